"""Scopes: what keeps two claims of one attribute apart.

Above: `lexicon`. Below: nothing. A dimension has values; a value with ``!`` is marked: it also differs from saying
nothing.
"""

from __future__ import annotations

from callosum_mcp.reconcile.lexicon.tables import table

SCOPES = table("""
env: prod=live=production=prd=produktion=produktiv=produktivsystem=producción=produzione=produkcja=produkcji=
    produção=本番=live_system=prod.env !staging=stage=stg=testumgebung=préproduction=preprod=préprod=
    preproducción=pruebas=entorno_de_pruebas=collaudo=testowe=testowym=testowe_środowisko=homologação=
    ステージング=検証環境=vorproduktion=recette=uat=test_environment=testsystem !dev=development=entwicklung=
    développement=desarrollo=sviluppo=dev_environment=local_dev=開発環境=deweloperskim=desenvolvimento=
    development_branch !test=tests=testing_env=テスト環境 !qa !preview=preview_environment=review_app
    !demo=sandbox !canary_env !nightly_builds=nightly_build !beta_channel=beta
role: !spare=reserve=ersatz=ersatzweise=de_secours=de_rechange=de_repuesto=di_ricambio=zapasowy=zapasowa=reserva=予備
    !deputy=vice=substitute=backup_contact=stellvertretend=stellvertretende
    primary=primär=principal=primario=master_node=leader_node !replica=replicas_of=read_replica=replik=réplica=
    lecture=standby=secondary=follower=réplique=replika
side: server=server_library=server_side client=client_library=client_side=client-side=klient sdk
fill: !raw=brutto=brut=bruto=lordo !usable=netto=utilisable=utilizable=nutzbar=utilizzabile !filled=
    players_online=users_online=online_now=connected=uses=used=using=peak=consumes=in_use=belegt=occupied=spent=
    used_up=ausgegeben=dépensé=gastado=speso=wydaliśmy=gasto !free=frei=libre=libero=wolne=livre=remaining
bound: limit_max=max=maximum=at_most=up_to=höchstens=maximal=au_plus=máximo=como_máximo=al_massimo=najwyżej=
    no_máximo=最大=never_more_than=never_above=never_grows_above !min=minimum=at_least=mindestens=minimal=au_moins=
    mínimo=al_menos=almeno=co_najmniej=pelo_menos=最小=no_fewer_than=warm
net: !container=inside_its_container=in_container=container_port=inside_the_container
    !host_port=published=on_the_host !internal=inside_the_cluster=in_the_cluster=from_inside=inside=
    cluster-internal=intern=interne=interno=wewnętrzny=内部 !external=from_outside=outside=public=
    from_the_internet=extern=externe=externo=esterno=zewnętrzny=外部 !loopback
proto: http https grpc mqtt ssh ftp smtp imap pop3 ws=websocket udp !metrics=prometheus_metrics !admin
    !debug=debug_port=pprof=profiling !health_port=healthz rpc
tier: solo team pro=professional enterprise basic free_plan business personal family_plan starter premium
    plus=plus_plan standard_plan
quarter: q1=first_quarter=erstes_quartal q2=second_quarter q3=third_quarter q4=fourth_quarter=letztes_quartal
    h1=first_half=erstes_halbjahr=premier_semestre=primer_semestre h2=second_half=zweites_halbjahr=second_semestre=
    segundo_semestre
period: !last_winter=last_summer=last_season=last_year=last_term=last_quarter=last_spring=last_autumn=
    previous_year=previous_season=letztes_jahr=vorjahr=letzten_winter=année_dernière=l'an_dernier=año_pasado=
    anno_scorso=zeszłym_roku=ano_passado=昨年=前年
phase: connect read write idle keepalive=keep-alive handshake
measure: !alarm=alert=alerts=threshold=trigger !data_sheet=datasheet=rated measured=gemessen=mesuré=medido=
    misurato=zmierzone=actual=observed=実測 target=goal=gate=fail_under=ziel=objectif=objetivo=obiettivo=cel=
    目標
flow: import_flow=import=importe=importación=importazione=インポート
    !export=exporte=exportación=esportazione=エクスポート
dir: inbound=incoming=eingehend=entrant=entrante=przychodzące
    outbound=outgoing=ausgehend=sortant=saliente=wychodzące
wire: !wired=ethernet=kabel !wireless=wlan_ap
files: python_files=python=*.py=py js_files=typescript=javascript=ts=*.ts=*.js makefile=makefiles
    yaml_files=*.yml=yaml html_files=html csv_files=csv=*.csv css_files=css sql_files=sql
    markdown_files=*.md=markdown=md batch_files=batch_file=*.bat
    shell_scripts=shell_script=*.sh
surface: !editor=ide=éditeur=editor_window !docs=documentation=docs_pages !terminal=shell_window
    !browser=navigateur=navegador !mail_client=reads_mail=mail_program !slides !e-reader
device: !laptop=laptops=notebook=ordinateur_portable !desktop=tower !phone_device !tablet=ipad !server_room
meal: breakfast=morning=frühstück=morgens=matin=petit-déjeuner=desayuno=mañana=colazione=mattina=śniadanie=rano=
    manhã=朝 lunch=mittag=mittagessen=déjeuner=almuerzo=pranzo=obiad=almoço=昼 dinner=evening=abend=abendessen=soir=
    dîner=cena=sera=kolacja=wieczór=jantar=noite=夜 afternoon=nachmittag=après-midi=tarde
vendor: !vendored=vendor=third_party=third-party=thirdparty=bundled=vendored_in
layer: !default=set_nothing_themselves=unless_overridden=may_override=can_override=may_be_overridden=
    can_be_overridden=überschreibbar=defaults=standardwert=par_défaut=por_defecto=
    predefinito=domyślnie=domyślny=padrão=デフォルト=standardmäßig=out_of_the_box !override=special-cased=
    special_case=exception=exceptions=ausnahme=ausnahmen=excepción=eccezione=wyjątek=exceção=例外=has_its_own=
    have_their_own=own_level=on_top_of=overrides=overridden=überschreibt=abweichend=surcharge
audience: !guest=guests=gäste=gast=invités=invité=invitados=invitado=ospiti=gości=convidados=ゲスト !iot admins
    staff=employees=mitarbeiter !contractors=contractor !students !customers=kunden
who: !everyone_else
site: north_site north=nord=norte=północ south=süd=sud=sur=południe east=ost=est_site west=ouest=oeste
floor: ground_floor=erdgeschoss first_floor second_floor third_floor basement attic
season: summer=sommer=été=verano=estate=lato=verão=夏 winter=hiver=invierno=inverno=zima=冬
week: weekday=weekdays=working_day=workdays=werktags !weekend=weekends=wochenende=week-end=fin_de_semana=
    fine_settimana=weekendy
shift: early=früh=early_shift=frühschicht late=spät=late_shift=spätschicht night_shift=nachtschicht day_shift
hours: !by_day=by_day=daytime=during_the_day=day_time=tagsüber=am_tag=tags=di_giorno=giorno=le_jour=de_jour=de_día=
    w_dzień=de_dia=昼間 !at_night=at_night=night=overnight=nachts=nacht=di_notte=notte=la_nuit=de_nuit=de_noche=noche=
    w_nocy=à_noite=de_noite=夜間
cadence: hourly=stündlich=stündliche daily=nightly=täglich=tägliche=quotidien weekly=wöchentlich=wöchentliche=
    hebdomadaire=semanal=settimanale monthly=monatlich=monatliche=mensuel yearly=annual=annually=jährlich=annuel
arch: arm64=aarch64 amd64=x86_64=x64
bits: ipv4 ipv6
gross: !net_price=net_of_tax !gross=inkl._mwst=incl._vat
""")
"""Dimension -> values with their words."""

SCOPE_KEYS = frozenset(
    """
    abteilung classroom cliente cluster customer department env environment equipo group host hosta hoście inquilino
    kunde machine mandant maszyna namespace region site squadra team tenant tenants user zespół équipe テナント
    """.split()
)
"""A word after which the name of a scope stands: ``tenant elm``, ``host=basil``."""

COMPONENTS = frozenset(
    """
    admin agent backend beta bot bridge cache cli client collector core dashboard db dev docs exporter frontend
    gateway importer indexer legacy lib library lite mirror mobile next operator parser plugin proxy relay replica
    scheduler sdk sidecar staging standby test tests ui web worker workers
    """.split()
)
"""Words that turn the name before them into the name of another thing (``mailer`` / ``mailer proxy``)."""
