"""Words that say how a sentence is meant: plan, question, condition, example, past, exception, change, negation.

Above: `lexicon`. Below: nothing.
"""

from __future__ import annotations

from callosum_mcp.reconcile.lexicon.tables import table

MARKERS = table("""
ask: いつ どこ だれ 誰 何 いくつ いくら
plan: ask_them_for ask_them_to ask_for_a next_spring next_summer next_autumn next_winter
    next_season next_term request_a petition_for beantragen anfragen drafts drafting prepares
    preparing todo fixme should shall proposal propose proposed proposes suggestion plan_to plans_to plan_for
    planning_to planned idea ideas roadmap_item considering consider maybe perhaps someday some_day intend
    intends intention remember_to draft rfc wish wishes would_like thinking_about going_to let's_move might_move
    look_at_moving not_yet upcoming under_discussion to_discuss wishlist we_could could_move target_version
    is_to_be to_be_decided tbd hope_to aim_to planen plant geplant vorschlag vorgeschlagen sollte sollten sollen
    soll idee vielleicht überlegen erwägen möchte möchten würde_gern wollen prévu prévoit proposition propose_de
    devrait devraient envisage envisageons idée peut-être à_discuter souhaite propuesta proponer propone debería
    deberíamos quizás quizá tal_vez planeamos previsto pensamos proposta proporre dovrebbe dovremmo forse
    idea_di pensiamo_di prevediamo previsto_per vorremmo planujemy planowany planowana planowane propozycja
    powinniśmy powinien powinna może_by warto_by pomysł planejamos deveria deveríamos talvez pretendemos
    sugestão 予定 提案 検討 計画 かもしれない したい べき 案 候補 next_year next_quarter in_planning
    could_switch could_use thinking_of wird_überlegt steht_zur_debatte rejected_idea candidate decided_against
    ruled_out turned_down considered debated verworfen dagegen_entschieden écarté descartado scartato odrzucono
    見送り evaluate evaluating evaluation trial_of
will: will won't wird werden sera seront será serán sarà będzie zostanie planuje vai
hypo: once_we once_they once_it once_i once_you once_the if unless suppose supposing assuming imagine whenever
    in_case would would've were_to wenn falls angenommen würde würden wäre hätte si_jamais au_cas_où en_cas_de
    supposons serait quand_même_si en_caso_de suponiendo si_alguna_vez sería habría se_mai in_caso_di qualora
    sarebbe jeśli jeżeli gdyby gdy w_razie byłoby caso_o caso_a se_um_dia もし 場合 なら たら 仮に
hypo_start: while whilst solange tant_que mientras_que finché dopóki enquanto before bevor avant_de avant_que
    antes_de antes_que prima_di zanim when wenn si se sobald lorsque quand cuando quando kiedy once sofern ob
    czy なぜ
example: example examples sample e.g. fixture fixtures placeholder dummy conftest for_tests only_for_tests test_data
    mocked lorem beispiel beispielkonfiguration zum_beispiel platzhalter exemple par_exemple ejemplo por_ejemplo
    esempio ad_esempio przykład przykładowa na_przykład exemplo por_exemplo 例 サンプル 例えば for_instance
    replace_with your_own put_in_yours yours_here goes_here fake fakes faked stub stubs stubbed simulated simulates
past: former former_contact for_the_record last_year last_winter last_summer last_autumn last_spring letztes_jahr
    l'an_dernier l'année_dernière el_año_pasado l'anno_scorso no_ano_passado w_zeszłym_roku ancien_code ancienne_adresse
    first_wrote first_noted first_said first_thought first_put first_read first_typed first_entered misread
    mistyped misheard miswrote wrongly_noted zuerst_notiert zuerst_geschrieben erst_notiert verschrieben d'abord_noté
    primero_anoté primero_escribí prima_avevo_scritto najpierw_zapisałem najpierw_zapisałam primeiro_anotei
    tried tried_out experimented prototyped ausprobiert essayé probado provato wypróbowaliśmy back_in_january
    back_in_february back_in_march back_in_april back_in_may back_in_june back_in_july back_in_august
    back_in_september back_in_october back_in_november back_in_december back_in_spring back_in_summer
    back_in_autumn back_in_winter handled peaked spiked met talked_to spoke_with saw_them getroffen rencontré
    encontré incontrato spotkałem was were used_to formerly previously back_then once_was history historical
    thought believed assumed had back_in in_the_past originally at_first initially ago first_believed went_live
    in_those_days before_that at_the_time ran_into legacy war waren früher damals ehemals bisher ursprünglich
    hatte bis_vor glaubte dachte était étaient autrefois avant auparavant jadis avait anciennement era eran
    antes solía anteriormente antiguamente tenía prima una_volta in_passato aveva erano precedentemente ex- był
    była było były dawniej kiedyś wcześniej do_niedawna miał antigamente tinha costumava eram 以前 かつて だった
    昔 去年 元々 当時 以前は でした vorher zuvor
exception: stands_in_for fills_in_for standing_in_for vertritt just_once this_coming for_that_night
    solo_esa_noche just_for_the just_for_this only_for_the_day nur_für_das nur_für_den nur_für_die uniquement_pour_le
    uniquement_pour_la solo_por_esta solo_per_la solo_per_il tylko_na_czas só_para_o exceptionally
    just_this_once one-off one_off this_week_only today_only only_this_week for_once just_today just_this_week
    this_once except_on temporary temporarily this_time ausnahmsweise einmalig nur_diese_woche nur_heute diesmal
    vorübergehend exceptionnellement cette_semaine_seulement seulement_cette_semaine excepcionalmente
    solo_esta_semana sólo_esta_semana por_una_vez eccezionalmente solo_questa_settimana per_una_volta wyjątkowo
    tylko_w_tym_tygodniu jednorazowo só_esta_semana apenas_esta_semana 今回のみ 今週だけ 今回だけ 例外 今日だけ
    今週のみ
only: only nur seulement sólo solo soltanto tylko só apenas somente だけ のみ
change: deletes removes retires
    gone scrapped ditched abandoned discontinued drop these_days put_back rolled_back_to went_back
    in_favour_of in_favor_of retrained replugged rebuilt reinstalled reconfigured repointed rewired remounted
    reassigned rerouted reimaged rehosted reissued prolongado prolongada prolungato prolungata passa_a passaram
    cambiamos wymieniono wechselte wechselten wechseln_zu dropped_for neuerdings copied_over taken_over
    gone_over went_over going_over no_longer raise lower avancé avancée anticipato anticipata adelantado
    adelantada przyspieszony przyspieszono antecipado antecipada 前倒し moved moves moving renamed replaced
    replace replaces switched switching migrated slipped postponed rescheduled effective changed changes now
    nowadays since upgraded updated bumped handed_over took_over takes_over from_now_on from_this_week from_this
    from_next stepped_down steps_down as_of no_longer not_anymore any_more anymore raised lowered increased
    decreased reduced extended prolonged renewed retired rolled rolled_back downgraded swapped converted ported
    reindexed deleted dropped quit stopped_using gave_up instead new newly became becomes relocated transferred
    promoted brought_forward shifted delayed expanded grown grew went_from cut_over turned_into powered_down
    took_down onwards by_now today removed successor succeeded inherited umgezogen verschoben verlegt umbenannt
    ersetzt gewechselt umgestellt umgestiegen migriert jetzt nun inzwischen mittlerweile seit ab_sofort neu neue
    neuer neues nicht_mehr übernommen übernimmt verlängert erhöht gesenkt geändert aktualisiert abgelöst déplacé
    déplacée renommé remplacé remplacée migré passé passée désormais maintenant depuis dorénavant nouveau
    nouvelle ne_plus repoussé repoussée reporté reportée changé prolongé augmenté trasladado cambiado cambió
    movido renombrado reemplazado sustituido migrado ahora desde a_partir_de nuevo nueva ya_no aplazado aplazada
    retrasado pospuesto actualizado ampliado pasó spostato spostata rinominato sostituito sostituita migrato ora
    adesso dal nuovo nuova non_più rinviato rinviata prorogato prorogata aggiornato passato passata passati passate
    cambiato
    przeniesiony przeniesiona przeniesione przeniesiono zmieniony zmieniona zmieniono zastąpiony zastąpiona
    zastąpił teraz obecnie od_teraz nowy nowa nowe już_nie przesunięty przesunięta przesunięto przedłużony
    przedłużona zaktualizowany przeszliśmy przeszedł przeszła mudado mudou mudamos renomeado substituído
    substituída agora novo nova não_mais adiado adiada atualizado prorrogado passou transferido 移行 移動 変更
    置き換え 新しい 現在は 今は 延期 更新 切り替え 引き継 になった 延びた 延長 変更された 改名 移転 引っ越し
    変わった 今では bye got_rid_of phased_out pushed_back no_more vorgezogen
negation: not no never isn't aren't doesn't don't cannot can't without neither nor none hasn't haven't wasn't nicht
    kein keine keinen keiner nie niemals ohne ne pas jamais aucun aucune sans nunca ningún ninguna sin non mai nessun
    nessuna senza nie_ma nigdy żaden bez não nenhum nenhuma sem ていない でない ではない ません じゃない なかった
    しない いない ない
dismiss: 解約 廃止 退会 卒業 やめた やめて
    deletes removes retires
    drop dropped no_longer nicht_mehr ne_plus ya_no non_più già_non już_nie não_mais sold got_rid_of
    verkauft instead_of rather_than replaced replace replaces replacing quit old former ex- not_the anstelle_von
    statt ersetzt_den au_lieu_de ancien ancienne en_lugar_de en_vez_de antiguo antigua viejo vieja invece_di
    vecchio vecchia zamiast stary stara em_vez_de antigo antiga 古い 旧 alte alter alten altes formerly unlike
    stopped_using gave_up moved_away_from moved_off ditched abandoned off_of
removed: deletes removes retires 解約 退会 卒業 やめた やめて
    retired deleted removed dropped gone decommissioned dismissed abolished scrapped torn_down cancelled canceled
    discontinued renamed gelöscht entfernt abgeschaltet_und abgeschafft gestrichen supprimé supprimée retiré retirée
    eliminado eliminada retirado retirada rimosso rimossa eliminato dismesso usunięty usunięta wycofany wycofana
    removido removida descontinuado 撤去 廃止 削除 broke
into: in_favour_of in_favor_of zugunsten_von chez to into auf zu zum zur nach à au vers a hacia al in alla allo
    verso na do para へ に with mit avec con com z through through_with durch par por
aside: if_possible if_i_remember if_i_recall if_memory_serves if_i'm_not_mistaken if_i_am_not_mistaken if_at_all
    if_need_be wenn_möglich falls_möglich wenn_ich_mich_recht_erinnere si_possible si_je_me_souviens si_es_posible
    si_mal_no_recuerdo se_possibile se_ricordo_bene se_possível se_bem_me_lembro
approx: about around roughly approximately almost nearly circa ca ca. some ungefähr etwa rund fast environ presque
    unos unas aproximadamente casi quasi około prawie cerca_de quase 約 ほぼ およそ ~ more_than over over_a less_than
    under ponad mehr_als plus_de más_de più_di mais_de 以上 以下
event: crashed crash crashes incident restarted restart restarts rebooted reboot outage visited visit deployed_at
    happened occurred postmortem meltdown abgestürzt absturz neustart neugestartet vorfall ausfall panne incidente
    caída accident visite visita awaria restart_u wizyta 障害 再起動 クラッシュ 事故 broke_down
many: there_is there_are es_gibt il_y_a hay likes like loves loved enjoys speaks supports offers exposes mag liebt
    aime adore gusta gustan piace piacciono adora lubi kocha gosta 好き spricht parle habla parla mówi fala also
    additionally auch aussi también anche także również também も has_port
hedge: i_think probably apparently presumably wohl wahrscheinlich probablement probablemente probabilmente chyba
    provavelmente たぶん おそらく
""")
"""Kind of mark -> its words."""

LIGHT = frozenset(
    """
    dr frau herr mr mrs ms prof
    a about actual actually after al all also am amount an and any api app application apps are as at au auf aus aux
    avec be been before bei being benutzt by call called ce cette che chi co com combien come comment como con
    convention conventions count current currently cuál cuáles cuándo cuánto cuántos czy cómo d da daemon dal dalla
    dans das de dei del della delle dello dem den der des detail details di did die dienst dienste dla do does dos
    dove du dónde e each ein eine einem einen einer eines el em en entire entry er es est está están et every
    everybody exact exactly find first for from für gdzie get gets give gli go goes going haben had has hat have
    having he here how i id ids if il ile im in info into is ist it item items its jak jaka jaki jakie jest job jobs
    just keep kiedy kind kinds know korzysta kto która który l la las last latest le les like ll lo los lub läuft m
    main make makes man many mit much na need needs nel nella new next nicht no nos not nous number nutzt o od
    oder of official often on onde one ones option options or os other others ou our out over overview own où par para
    part people per person place plans please po por pour preference preferences progetto project projects projekt
    projekts projektu projekcie projet projeto proyecto przy quais qual quale quali quando quanti quanto quantos que
    quel quelle quelles quels quem qui quién quoi qué re really repo repositories repository right s se server servers
    serveur service services servicio servidor servizio serviço serwer set setting she show si sie sind so somebody
    someone son sono sont sort sorts stack still su sul sulla sur sus svc system systems são są t ta take takes te
    tell ten than that the their then there these they thing things this those to total two-way um uma umas un una
    unas und under une unit uno unos uns us usa usan use used user users uses using usługa usługi utilise utilisent
    utiliza utilizza używa valid value values ve verwenden verwendet very vom von w wann want was way we welche
    welcher welches wer what when where which who whole whom whose why wie wir with wo y you z ze zu zum zur à è é
    """.split()
)
"""Function words and words too common to name a subject."""

VERBS = frozenset(
    """
    kann können darf dürfen muss müssen peut peuvent doit doivent puede pueden debe deben può possono deve devono
    pode podem devem może mogą musi muszą lassen lässt let lets
    a abita accept accepts asks assigns brings caben cabe calls carries claims comes counts covers drinks drives eats
    enthält expects fasst feeds fetches fills finds fits hang hangs hanging holds hängt insists joins kommt lets looks
    makes means meets mieści moves offers opens pays plays prints provides pulls pushes puts records refers remains
    replaces reports rents rides runs saves seems sees sells shows sleeps speaks stand stands swims talks tells treats
    turns uploads visits vienen viene walks watches wears weighs works
    abita accept accepts allows answer answers are ascolta be bebe became becomes belongs benutzt beve boit build
    builds can charge charges connect connects contain contains corre cost costa costs coûte cuesta custa dauert
    deploys did do does dura dure działa end ends es escucha escuta est está están expira expire expires fica
    fonctionne funciona funziona gehört get gets gira gives go goes got guarda ha haben habite had handed has hat have
    heißt hört import imports installed installs is isst ist jest keep keeps korzysta kostet kosztuje last lasts
    laufen leads liegt lies like likes listen listens live lives logs läuft ma maintains may mieszka mora mounts moved
    must nasłuchuje need needs nutzt ont own owns passe pije polls post posts prefer prefers queda read reads requires
    resta retries returns roda run running runs s'appelle say says scade schreibt send sends sera serve served serves
    set should sind sit sits sitzt son sono sont speaks speichert spricht start starts stay stays steht stocke store
    stores switched são są take takes tem tiene took tourne trinkt trwa usa usan use used uses using utilise utilisent
    utiliza utilizza używa vence verwendet vive wait waits want wants wartet was were will wird wohnt work works would
    write writes wurde wygasa znajduje è é écoute
    """.split()
)
"""Verbs that end the subject of a plain sentence."""

NOT_IN_FORCE = frozenset("draft superseded rejected withdrawn obsolete deprecated".split())
"""Words for a document that is no rule, or none any more: in its title, or as its status."""
