"""State words and their antonyms, by axis.

Above: `lexicon`. Below: nothing. Each axis has the words for + and the words for -; the axes say different things
of a subject.
"""

from __future__ import annotations

from callosum_mcp.reconcile.lexicon.tables import table

_WORDS = table("""
on +: in_service working works works_again works_fine works_now works_well works_properly functional functioning
    in_betrieb en_servicio in_servizio em_serviço czynny
    czynna 使用可 running active activated enabled alive online operational up_and_running switched_on turned_on
    powered_on in_operation live_again aktiv aktiviert eingeschaltet angeschaltet läuft laufend online_again
    erreichbar en_marche actif activé activée allumé allumée en_ligne en_service activo activa activado activada
    encendido encendida funcionando en_funcionamiento habilitado habilitada attivo attiva attivato attivata acceso
    accesa abilitato abilitata in_funzione in_esecuzione funziona działa działająca działający aktywny aktywna
    włączony włączona włączone uruchomiony uruchomiona ativo ativa ativado ativada ligado ligada rodando no_ar
    em_execução 稼働中 稼働している 稼働 動いている 動作中 動作している 起動している 起動中 有効 オン 実行中 reachable
    serving started tourne fonctionne funciona gira corre läuft_wieder
on -: lifted broken kaputt defekt roto rota averiado averiada guasto guasta rotto rotta zepsuty zepsuta quebrado
    quebrada cassé cassée 壊れている 壊れた exited killed terminated quit_unexpectedly beendet à_l'arrêt en_arrêt
    detenidos finalizado_con out_of_order außer_betrieb fuera_de_servicio fuori_servizio fora_de_serviço nieczynny
    nieczynna 故障中 使用不可 not_working stopped inactive disabled dead offline failed crashed halted deactivated
    switched_off turned_off powered_off powered_down shut_down not_running out_of_service unreachable decommissioned
    suspended paused gestoppt inaktiv deaktiviert ausgeschaltet abgeschaltet angehalten abgestürzt steht_still
    heruntergefahren nicht_erreichbar arrêté arrêtée éteint éteinte désactivé désactivée hors_tension hors_service
    hors_ligne inactif en_panne parado parada detenido detenida apagado apagada desactivado desactivada inactivo
    inactiva caído caída deshabilitado deshabilitada fermo ferma fermato fermata spento spenta disattivato disattivata
    inattivo inattiva disabilitato disabilitata zatrzymany zatrzymana zatrzymane wyłączony wyłączona wyłączone
    nieaktywny nieaktywna desligado desligada desativado desativada inativo inativa fora_do_ar desabilitado 停止
    停止中 停止している 止まっている 無効 オフ 落ちている ダウン muted
seal +: sealed versiegelt scellé sellado sigillato zapieczętowany selado
seal -: unsealed entsiegelt descellé
health +: fine passed success succeeded successful healthy ok okay clean passing gesund fehlerfrei sain sana
    sano saludable w_porządku zdrowy saudável íntegro 正常 健全 optimal all_good green_status in_sync synced
    synchronised synchronized synchronisiert synchronisé sincronizado sincronizzato zsynchronizowany 同期済み
health -: failed failure degraded unhealthy faulted failing broken corrupt corrupted faulty defekt beschädigt
    fehlerhaft dégradé défaillant degradado degradada degradato guasto dañado uszkodzony uszkodzona zdegradowany
    danificado 異常 故障 劣化 critical_state unavail out_of_sync
done +: closed geschlossenes_ticket done finished completed complete shipped fertig abgeschlossen erledigt beendet
    terminé terminée achevé fini terminado terminada completado completada acabado finito finita completato completata
    terminato terminata conclusa concluso ukończone ukończony ukończona zakończone zakończony zakończona gotowe
    skończone concluído concluída finalizado 完了 終了 完成 済み paid_off resolved closed_ticket over_and_done
done -: open in_progress ongoing pending unfinished incomplete not_started under_way underway half_done still_open
    in_arbeit läuft_noch offen_ist en_cours en_curso pendiente en_proceso in_corso da_completare w_toku w_trakcie
    niedokończone em_andamento pendente 進行中 作業中 未完了 blocked on_hold stalled
lock +: locked verschlossen verriegelt abgeschlossen_tür verrouillé cerrado_con_llave bloccato zamknięty_na_klucz
    trancado
lock -: unlocked entsperrt déverrouillé
open +: open geöffnet offen ouvert ouverte abierto abierta aperto aperta otwarty otwarta otwarte aberto aberta
    開いている 営業中
open -: closed geschlossen fermé fermée cerrado cerrada chiuso chiusa zamknięty zamknięta zamknięte fechado fechada
    閉鎖 閉まっている shut
public +: public öffentlich publique publiczny público pubblico 公開 open_source open-source
public -: private privat privé prywatny privado privato 非公開 closed_source internal_only
allergy +: allergic allergisch allergique alérgico alérgica allergico allergica uczulony uczulona alérgico_a
    アレルギーがある
allergy -: no_nut_allergy no_allergy no_allergies keine_allergie keine_allergien sin_alergias nessuna_allergia
    brak_alergii sem_alergias not_allergic
crypt +: encrypted verschlüsselt chiffré cifrado cifrata cifrato szyfrowany zaszyfrowany criptografado 暗号化
crypt -: unencrypted unverschlüsselt plaintext_disk en_clair sin_cifrar in_chiaro nieszyfrowany
paid +: paid bezahlt payé payée pagado pagada pagato pagata zapłacona opłacona pago_feito 支払済み 支払い済み settled
paid -: unpaid unbezahlt impayé impayée impagado non_pagato nieopłacona 未払い overdue outstanding
approved +: granted approved genehmigt approuvé aprobado aprobada approvato approvata zatwierdzony zatwierdzona aprovado
    aprovada 承認済み 承認 accepted
approved -: pending in_review under_review being_checked being_examined still_being_checked still_being_examined
    awaiting_approval pending_approval in_prüfung wird_geprüft en_examen en_revisión in_esame em_análise rejected
    declined abgelehnt refusé refusée rechazado rechazada respinto rifiutato odrzucony odrzucona rejeitado rejeitada
    却下 denied
access +: read-write read_write writable
access -: read-only read_only schreibgeschützt lecture_seule solo_lectura sola_lettura tylko_do_odczytu
    somente_leitura 読み取り専用
required +: mandatory required enforced enforces enforce forces forced insists requires compulsory pflicht obligatoire
    obligatorio obbligatorio obowiązkowe obrigatório 必須
required -: optional optionally not_enforced optionnel opcional facoltativo opcjonalne 任意 voluntary
manual +: automatic automatically automatisch automatique automático automatico automatyczny 自動
manual -: manual manually by_hand manuell von_hand manuelle manual_only manuale ręcznie 手動
supported +: supported supports unterstützt
supported -: unsupported deprecated veraltet obsolete
present +: installed installiert installé instalado installato zainstalowany
present -: uninstalled deinstalliert désinstallé desinstalado disinstallato
full +: full voll plein lleno pieno pełny cheio 満杯
full -: empty leer vide vacío vuoto pusty vazio 空
sync +: synchronous synchronously synchron
sync -: asynchronous asynchronously asynchron
available +: available verfügbar disponible disponibile dostępny disponível in_stock vorrätig
available -: unavailable sold_out out_of_stock nicht_verfügbar esgotado ausverkauft
frozen +: frozen code_freeze eingefroren
frozen -: thawed freeze_lifted freeze_was_lifted freeze_is_over unfrozen
archived +: archived archiviert archivé archivado archiviato zarchiwizowany arquivado
archived -: actively_maintained unarchived
""")

STATES = {
    name.removesuffix(" +"): (words, _WORDS[name.removesuffix("+") + "-"])
    for name, words in _WORDS.items()
    if name.endswith("+")
}
"""Axis -> (words of +, words of -)."""

TRUE = frozenset(
    """
    1 enabled ja on oui si sim sì sí tak true y yes はい
    """.split()
)
"""What stands for true as the value of a key."""

FALSE = frozenset(
    """
    0 disabled false n nein never nie no non none não off いいえ
    """.split()
)
"""What stands for false as the value of a key."""

COPULA = frozenset(
    """
    again are aren't back be bleibt bring brought came comes currently es est está están fica gets goes got is isn't
    ist it's jest keep kept left now ok powered remain remains reste rimane running s service set set_to shut sind son
    sono sont state status stay stays steht still switched são są taken that's took turned was went were wurde została
    è é
    """.split()
)
"""What stands before a lone ``on``, ``off``, ``up`` or ``down`` that is a state and no preposition."""
