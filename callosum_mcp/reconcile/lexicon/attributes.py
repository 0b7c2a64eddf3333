"""Attribute words in nine languages: what a claim can be about.

Above: `lexicon`. Below: nothing. One line a concept, an underscore joins the words of a phrase.
"""

from __future__ import annotations

from callosum_mcp.reconcile.lexicon.tables import table

ATTRIBUTES = table("""
port: port ports listen listens listening listener lauscht hört puerto porta porte porty escucha escuchan écoute
    ascolta nasłuchuje escuta ポート bind binds lauschen
version: version versions ver versión versione wersja wersję wersji versão fassung バージョン upgrade upgraded
    __version__ revision lançamento wydanie edition
firmware: firmware
subnet: subnet cidr teilnetz sous-réseau subred sottorete podsieć netmask address_range
replication: replication replicates replicated replikation réplication replicación replica_mode
mode: mode modus modo modalità tryb モード
bucket: bucket
clothing: shirt_size t-shirt_size shirt_sizes clothing_size konfektionsgröße kleidergröße taille_de_maillot talla
    taglia rozmiar
blood_group: blood_group blood_type blutgruppe groupe_sanguin grupo_sanguíneo gruppo_sanguigno grupa_krwi 血液型
channel: channel ch kanal canal canale kanał チャンネル
release: release releases release_date
manager: product_manager project_manager product_owner scrum_master account_manager projektmanager
separator: separator delimiter separated trennzeichen séparateur séparateurs separador separatore separatorn
    field_separator
radio: radio_protocol wireless_protocol
clock_format: date_format time_format timestamp_format datumsformat
gateway_ip: default_gateway
shell: shell login_shell
charset: encoding charset zeichensatz encodage codificación codifica kodowanie codificação 文字コード
mail_client: mail_client email_client mail_program mailprogramm reads_mail
browser: browser navigateur navegador przeglądarka ブラウザ
css: css css_framework styled styling
orm: orm
object_store: object_store object_storage blob_store attachments_live
backup_tool: backup_tool backup_software sauvegarde_outil
bundler: bundler bundled_with bundles
type_checker: type_checker type_check typed_with
docs_tool: docs_tool documentation_generator docs_generator docs_built
log_stack: log_shipper log_stack logs_go_to log_collector
tracing_tool: tracing_backend traces
dashboard: dashboards
error_tracker: error_tracker error_tracking crash_reports
wiki_tool: wiki_software wiki_engine
video: video_calls video_tool conferencing
workflow: workflow_engine workflow
dns_server: ns dns_server resolver nameserver
idp: identity_provider idp
hypervisor: hypervisor virtualisation virtualization
keyboard: keyboard keyboard_layout tastatur clavier teclado tastiera klawiatura
carrier: carrier parcel_service shipping ships_with paketdienst transporteur
currency: currency währung devise moneda valuta waluta moeda 通貨
cms: cms
iac: infrastructure_as_code provisioned provisioning
container_engine: container_engine container_runtime
quotes: quotes quote_style
raid: raid_level
array: raid raid_array raid_verbund array_state mdstat
versioning: versioning version_scheme
restart: restart_policy
api_style: api_style api_type
isolation: isolation_level isolation
deploy_style: deployment_strategy rollout_strategy deploy_strategy
work_mode: work_mode
chair: chair chairs chaired vorsitz présidence preside presidente przewodniczący 議長
ceo: ceo geschäftsführer directeur_général director_general amministratore_delegato prezes diretor_geral 社長
cto: cto
director: director directeur direktor boss chef_der supervisor
secretary: secretary treasurer kassenwart schriftführer
coach: coach trainer mentor tutor teacher lehrer
anniversary: anniversary wedding wedding_day married hochzeit hochzeitstag jubiläum boda matrimonio ślub casamento
    結婚記念日
contact: contact contact_person kontakt contacto contatto
landlord: landlord vermieter
successor: deputy stellvertreter vertretung suppléant substitute
admin: administers administrator administrators admin_of
doctor: dentist doctor hausarzt vet tierarzt
rotation: rotation rotated rotates rotate
headcount: people persons headcount personen leute personnes personas persone osób pessoas 人数 employees mitarbeiter
    team_size
kernel: kernel noyau núcleo jądro カーネル
address: address addresses ip adresse adres adresu dirección indirizzo endereço アドレス ipv4 ipv6 a_record dns_record
mail: mail email e_mail mailbox mailto correo courriel poczta メール posta
url: url link endpoint uri base_url homepage website webseite エンドポイント route
domain: domain hostname fqdn dominio domaine domena domínio ドメイン
path: file_path config_file file_location api_prefix prefix path paths directory folder location pfad ordner
    verzeichnis chemin dossier répertoire ruta carpeta directorio percorso cartella ścieżka katalog caminho pasta パス
    フォルダ ディレクトリ
config: config configuration settings conf cfg konfiguration configuración configurazione konfiguracja configuração
    設定
host: host hosted runs_on lives_on live_on hosts machine box node_name läuft_auf rechner hôte máquina macchina maszyna
    hoście hosta ホスト deployed_on sits_on located_on placed_on runs_at host_name
owner: proprietario dueño dueña właścicielka proprietária inhaber owner owned owns own responsible maintains
    maintained maintainer maintainers looks_after belongs_to takes_care_of in_charge zuständig verantwortlich betreut
    besitzer propriétaire responsable responsables propietario responsabile właściciel odpowiada odpowiedzialny
    opiekun responsável dono 担当 担当者 責任者 owned_by maintained_by handed hands_over took_over taken_over
    takes_over übernommen übernimmt chairs_by steward caretaker betreuer ansprechpartner lleva llevan
    geleitet projektleitung projektleiter projektleiterin project_lead jefe_de_proyecto jefa_de_proyecto
    capo_progetto kierownik_projektu chefe_de_projeto プロジェクトリーダー
    liderado liderado_por led_by run_by heads headed leads lead leader leitet leitung leiter dirige kieruje lidera
    coordina capo chef_de_projet teamlead team_lead managed_by manages manager
oncall: on_call oncall bereitschaft rufbereitschaft astreinte guardia reperibilità dyżur plantão 当番
reviewer: レビュー担当 レビュアー reviewer reviews reviewed reviewer_of prüft relit revisa
author: author wrote written_by autor auteur autore 著者
database: database databases db datenbank base_de_données base_de_datos base_dati bazy baza banco_de_dados
    データベース stores_in stores_data keeps_its_data persistence datastore data_store dsn database_url bazę bazie
cache: cache caches cached caching zwischenspeicher caché キャッシュ
broker: broker message_broker queue queues messaging bus warteschlange file_d'attente cola coda kolejka fila
    メッセージ event_bus
auth: auth authentication login log_in logs_in sign_in signs_in sign-in sso anmeldung authentifizierung
    authentification connexion autenticación inicio_de_sesión autenticazione accesso logowanie uwierzytelnianie
    autenticação 認証 ログイン authenticates authenticate idp identity_provider log_on
licence: license licence licensed licenced lizenz licencia licenza licencja licença ライセンス has_license spdx
ci: ci pipeline pipelines build builds build_system build_server continuous_integration ビルド integração_contínua
test_runner: test_runner unit_tests test_framework testrunner tests_run pruebas_unitarias テスト test unit
linter: linter linted lint lints linting
formatter: formatter formatted formats_code format_code code_style pre-commit
format: format formats logs_format formato formatu フォーマット 形式 serialization serialisation serialized written_as
log: log logs logging logger protokoll ログ journal
level: level niveau nivel livello poziom nível レベル
language: language languages sprache langue langage idioma lingua język języku 言語 locale written_in geschrieben_in
    écrit_en escrito_en scritto_in napisany napisana code_en ui_language interface_language lang
theme: theme thema thème tema motyw テーマ colour_scheme color_scheme appearance
indent: indent indentation indented indents einrückung indentación rientro wcięcia indent_style tabs_or_spaces
merge: merge merged merges merging prs pull_requests pull_request pr mr merge_strategy
branch: branch branches default_branch origin zweig rama ramo gałąź ブランチ head
deploy: deploy deploys deployed deployment deployments ausgerollt déploiement despliegue wdrożenie デプロイ rollout
orchestrator: orchestrator orchestration workloads scheduled_by scheduler
proxy_server: reverse_proxy proxy ingress web_server webserver load_balancer
os: os operating_system distro distribution betriebssystem système_d'exploitation sistema_operativo system_operacyjny
editor: editor ide
compression: compression compressed compresses komprimiert komprimierung compresión compressione kompresja 圧縮 codec
datatype: type datatype column_type typ tipo 型 primary_key key_type
model: model models modell modèle modelo modello モデル embedding embeddings embedder embed embedding_model llm
registry: registry registries images pushed image container_images docker_registry
policy: policy policies richtlinie política policy_is maxmemory-policy eviction evict evicted
timezone: timezone time_zone tz zeitzone fuseau_horaire zona_horaria fuso_orario strefa_czasowa fuso_horário clock
    タイムゾーン uhr_steht
region: region regions zone datacenter datacentre rechenzentrum région región regione lokalizacja região リージョン
    standort
room: room 場所 会議室 rack shelf bay locker cabinet regal schrank étagère armoire estante scaffale półka 棚 sits desk
    seat_is office_of zimmer raum büro sitzt bureau salle sala habitación oficina ufficio stanza pokój escritório 部屋
    席
home: lives_at wohnt_an lives_in wohnt_in habite vive_en abita mieszka mora_em moved_to_town resides
phone: phone extension ext telephone durchwahl telefon téléphone poste teléfono extensión telefono interno telefone
    ramal 内線 電話
vlan: vlan
ssid: ssid wifi wi-fi wlan
percentage: percentage percent prozent prozentsatz pourcentage porcentaje percentuale procent percentagem 割合
temperature: temperature temperatures temperatur température temperatura temp 温度 thermostat thermostats termostato
    setpoint vorlauftemperatur
floor: floor stockwerk etage étage planta piano piętro andar 階
memory: heap heap_size maxheapsize xmx
    memory ram mem arbeitsspeicher speicher mémoire memoria pamięć pamięci memória メモリ dimm
disk: disk disks storage festplatte speicherplatz disque disco dysk ディスク volume
capacity: capacity capacidad capacité capacità kapazität fassungsvermögen pojemność capacidade caben fasst
cpu: cpu cpus cores core kerne cœurs núcleos rdzenie コア
limit: rejected refused refuses beyond exceed exceeds larger_than bis_zu hasta fino_a até jusqu limit limits cap
    capped ceiling quota max maximum at_most up_to no_more_than never_more_than never_above höchstens maximal
    obergrenze limite límite máximo máx plafond maksymalnie limitu 上限 最大 upper_bound never_grows_above
    gives_up_after massimo grenze bigger_than allowed
size: size sizes größe taille tamaño dimensione rozmiar tamanho サイズ
batch: batch batches stapel lote lotto partia
pool: pool connections pool_size max_connections
timeout: timeout timeouts time_limit zeitlimit time_out waits zeitüberschreitung délai tiempo_de_espera
    limite_de_tempo タイムアウト
ttl: ttl lifetime session sessions sitzung sitzungen expires_after
retention: retention keeps kept retain retained aufbewahrung aufbewahrt rétention conservation retención conservazione
    przechowywane retenção 保存 保持 keep_for
retry: retry retries retried attempts attempt max_attempts versuche wiederholungen tentatives reintentos tentativi
    próby tentativas リトライ 再試行
interval: interval every intervall intervalle intervalo poll polls polling intervallo co_ile 間隔
schedule: schedule scheduled cron backup_schedule zeitplan rhythmus fréquence frecuencia frequenza częstotliwość
    frequência 頻度 how_often frequency häufigkeit wie_oft スケジュール
backup: backup backups backed_up backs_up back_up sicherung sicherungen sauvegarde sauvegardes sauvegardée
    copia_de_seguridad copias kopia kopie バックアップ sauvegardé gesichert respaldo salvataggio cópia
rate: rate req requests requests_per rate_limit throughput rps qps
threshold: threshold schwelle schwellwert seuil umbral soglia próg limiar しきい値 閾値 cutoff
coverage: coverage abdeckung couverture cobertura copertura pokrycie カバレッジ fail_under
replicas: replicas replica_count instances instanzen réplicas repliche repliki レプリカ replicaCount
seats: seats seat licenses plätze lizenzen sièges puestos posti miejsca lugares 席数
users: accounts account konten benutzer utilisateurs usuarios utenti użytkowników usuários ユーザー members headcount
nodes: nodes knoten nœuds nodos nodi węzłów nós ノード
workers: workers worker_count runners runner threads
price: bills bill price prices costs cost charges charge fee preis preise kostet kosten prix coûte tarif precio cuesta
    prezzo costa cena kosztuje preço custa 価格 料金 pricing we_pay
budget: budget budgets presupuesto bilancio budżet orçamento 予算
length: length duration long länge dauer dauert durée longueur duración durata długość trwa duração 長さ lasts last
    takes dure dura
expiry: expire expires expiry expiration expired notafter valid_until not_after gültig_bis läuft_ab ablauf abgelaufen
    ablaufdatum échéance expire_le caduca vence vencimiento scade scadenza wygasa ważny_do expira vencimento 有効期限
    期限 runs_out renewed
launch: launch launches launched go-live go_live launches_on ships ship_date veröffentlichung lancement lanzamiento
    lancio premiera リリース日 release_date available_from
deadline: deadline due due_date frist abgabe abgabetermin date_limite fecha_límite plazo termin termine prazo 締切
    締め切り delivery delivered submission consegna entrega livraison cutoff_date
birthday: birthday bday birthdate geburtstag anniversaire cumpleaños compleanno urodziny aniversário 誕生日 born
meeting: meeting sync weekly call appointment besprechung treffen réunion reunión riunione spotkanie spotkania reunião
    会議 打ち合わせ catch-up jour_fixe rendez-vous cita appuntamento zebranie 定例 stand-up standup
retro: retro retrospective retrospektive rétrospective retrospectiva retrospettiva
review_event: design_review
kickoff: kickoff kick-off auftakt lancement_du_projet
contract: contract vertrag contrat contrato contratto umowa 契約
signed: signed unterschrieben signé firmado firmato podpisana assinado
start: notbefore valid_from not_before starts start_date beginnt début inicio inizio początek início opening
party: party feier fête fiesta festa impreza
holiday: vacation holiday on_leave urlaub vacances vacaciones ferie urlop férias 休暇 leave
status: how_far wie_weit à_quel_point hasta_dónde status state running_state zustand état estado stato stan
    situação 状態 状況 ステータス condition health healthy gesundheit santé salud salute zdrowie saúde progress
    fortschritt avancement progreso progresso postęp 進捗
flag: flag flags feature_flag toggle schalter switch
allergy: allergies allergy allergic intolerance allergie alergia 過敏症 アレルギー
diet: diet eat eats ernährung isst régime dieta mange come mangia je 食事
drink: drink drinks coffee_order boit trinkt bebe beve pije 飲み物 飲む breakfast_order beverage
certificate: certificate certificates cert certs zertifikat certificat certificado certificato certyfikat 証明書
    tls_cert
issuer: issuer issues issued ca certificate_authority aussteller émetteur emisor emittente wystawca emissor
mta: mta mail_server smtp_server mailer
framework: framework web_framework built_with gebaut_mit
package_manager: package_manager installs_with paketmanager
secret_store: secrets secret_store secrets_manager password_manager password_vault passwort-manager passwortmanager
    passwortverwaltung gestionnaire_de_mots_de_passe gestor_de_contraseñas gestore_di_password menedżer_haseł
    gerenciador_de_senhas パスワードマネージャー パスワード管理
tracker: tracker issue_tracker tickets bug_tracker issue_tracking bugtracker 課題管理 チケット管理 バグ管理
chat: chat messenger team_chat chat_tool chat_server messaging_app chatprogramm チャット チャットツール
monitoring: monitoring monitored monitoring_with überwachung surveillance supervision monitorización
search_engine: search_engine search_backend full_text
vpn: vpn
filesystem: filesystem file_system dateisystem
algorithm: hashing hasher algorithm hash hashes hashed signing cipher encrypted_with verschlüsselt_mit
vector_store: vector_store vector_database vectors_in index_in
provider: provider anbieter fournisseur proveedor fornitore dostawca fornecedor vendor carrier isp hoster supplier
    suppliers lieferant lieferantin
forge: バージョン管理 ソースコード リポジトリ repository repo code_host source_code git_host git_hosting
base_image: base_image docker_base
hours: opening_hours business_hours öffnungszeiten heures_d'ouverture horario_de_apertura orari godziny_otwarcia
    godziny horário_de_funcionamento 営業時間
name: name named called heißt nom s'appelle nombre se_llama nome si_chiama nazwa nazywa 名前 name_of
day: day tag jour día giorno dzień dia 曜日
date: date dates datum fecha data_di 日付 日程
time: time uhrzeit heure hora ora orario godzina horário 時刻 時間 slot
env: environment umgebung environnement entorno ambiente środowisko 環境
user: user username ssh_user login_name konto
key: key schlüssel clé clave chiave klucz chave 鍵
colour: colour color farbe couleur colore kolor cor 色
upload: upload uploads uploaded attachment attachments attaching hochladen téléversement subida caricamento
progress: migration import_run rollout_state
temp_files: temp_file temp_files temporary_file temporary_files temp_dir temp_directory temp_folder tmp_files
    temporary_directory temporäre_dateien temp-dateien fichiers_temporaires archivos_temporales file_temporanei
    pliki_tymczasowe arquivos_temporários 一時ファイル
template: template_engine templating_engine template_language templating templates_engine vorlagen-engine
    moteur_de_templates motor_de_plantillas motore_di_template silnik_szablonów テンプレートエンジン
commit_style: commit_message commit_messages commit_style commit_convention commit_format commit-nachrichten
    コミットメッセージ
line_end: line_ending line_endings end_of_line eol zeilenenden fins_de_ligne 改行コード
paper: paper_size paper_format papierformat format_du_papier formato_de_papel formato_carta 用紙サイズ
case_style: naming_convention naming_style case_style naming_scheme
payment: payment_method method_of_payment paid_by zahlungsart zahlungsweise moyen_de_paiement forma_de_pago
    metodo_di_pagamento metoda_płatności forma_de_pagamento 支払い方法
cycle: billing_cycle billing_period abrechnungszeitraum
load_balancing: load_balancing balancing_algorithm balancing_policy
process_manager: process_manager process_supervisor supervised_by
service_mesh: service_mesh
migration_tool: migration_tool schema_migrations migrations_tool database_migrations migrations_run_with
http_client: http_client http_library
erp: erp accounting accounting_software bookkeeping bookkeeping_software buchhaltung buchhaltungssoftware
    comptabilité contabilidad contabilità księgowość contabilidade 会計ソフト
ticket: helpdesk help_desk ticket_system ticketing ticketing_system support_tool ticketsystem
game_engine: game_engine
sync: sync_tool file_sync syncs_with
init: init_system
transport_mode: commute commutes commuting means_of_transport arbeitsweg
""")
"""Concept -> its words."""
