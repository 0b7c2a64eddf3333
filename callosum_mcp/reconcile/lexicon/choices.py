"""Settings, habits and other values that exclude each other, by class.

Above: `lexicon`. Below: nothing. Members are written as in `software`.
"""

from __future__ import annotations

from callosum_mcp.reconcile.lexicon.tables import table

CHOICES = table("""
licence: mit=mit-lizenz apache-2=apache-2.0=apache=apache_2 gpl=gplv3=gpl-3.0=general_public_license=gplv2=gpl-2.0
    agpl=agpl-3.0=agplv3=affero lgpl=lgpl-3.0 bsd=bsd-3-clause=bsd-2-clause mpl=mpl-2.0 proprietary isc unlicense eupl
    cc-by busl=bsl
format: json=jsonformatter=json_objects=json_lines=jsonl=ndjson logfmt plain_text=plaintext csv xml yaml toml
    parquet avro protobuf=protocol_buffers msgpack=messagepack cbor bson thrift flatbuffers capnp=cap'n_proto
    markdown asciidoc restructuredtext=rst ini syslog_format=rfc5424 opus flac mp3 webp png jpeg=jpg avif pdf
    docx gzip_csv tsv
log_level: debug info warning=warn error=errors trace critical
human_language: english=englisch=anglais=inglés=inglese=angielski=angielsku=inglês=英語=en german=deutsch=allemand=
    alemán=tedesco=niemiecki=niemiecku=alemão=ドイツ語=de french=französisch=français=francés=francese=francuski=
    francuskim=francês=フランス語=fr spanish=spanisch=espagnol=español=spagnolo=hiszpański=espanhol=スペイン語
    italian=italienisch=italien=italiano=włoski=イタリア語 polish=polnisch=polonais=polaco=polacco=polski=polsku=
    polonês=ポーランド語 portuguese=portugiesisch=portugais=portugués=portoghese=português=portugalski japanese=
    japanisch=japonais=japonés=giapponese=japoński=日本語 dutch=niederländisch=néerlandais swedish=schwedisch
    chinese=中国語 norwegian danish czech
separator: tab=tabs=tab-separated=tsv=tabulator comma=commas=comma-separated=komma semicolon=semicolons=
    semicolon-separated=semikolon=point-virgule pipe=pipes=pipe-separated colon_separator
radio: zigbee z-wave=zwave thread_radio=thread bluetooth=ble wifi_radio lora=lorawan enocean dect
clock_format: day_first=day_month_year=d.m.y=d/m/y=tag_zuerst=día_primero=jour_d'abord=dd_mm_yyyy=dd.mm.yyyy=
    dd/mm/yyyy=dd-mm-yyyy=tt.mm.jjjj=jj/mm/aaaa=dd/mm/aaaa=gg/mm/aaaa=dd.mm.rrrr month_first=mm_dd_yyyy=mm/dd/yyyy=
    mm-dd-yyyy iso_8601=iso_form=iso_format=iso_dates=iso_date=year_first=año_primero=jahr_zuerst=y-m-d=yyyy_mm_dd=
    yyyy-mm-dd=jjjj-mm-tt=aaaa-mm-jj=aaaa-mm-dd=isoformat=iso8601=rfc_3339=rfc3339 unix_timestamp=unix_timestamps=
    unix_time=epoch_seconds=epoch=unixtimestampfield rfc_2822=rfc2822
theme: dark=dunkel=dunkles=dunkle=sombre=oscuro=scuro=ciemny=escuro=ダーク
    light=hell=helles=helle=clair=claro=chiaro=jasny=ライト high_contrast solarized
indent: tabs=tab=tabulatoren=tabulations=tabuladores=tabulazioni=tabulatory=タブ spaces=space=leerzeichen=espaces=
    espacios=spazi=spacje=espaços=スペース=two-space=four-space
merge: squash=squashed=squash-merge=squash-merged rebase=rebased=rebase-merge=rebase-merged=rebasing
    merge_commit=merge_commits=merge-commit=no-ff fast-forward=ff-only
branch: main master trunk develop=development_branch mainline
eviction: allkeys-lru volatile-lru noeviction allkeys-lfu volatile-lfu allkeys-random volatile-ttl
restart: unless-stopped on-failure restart_always
timezone: utc=gmt=z europe/berlin=cet=cest=berlin_time europe/london=bst europe/paris=paris_time
    europe/warsaw=warsaw_time europe/rome europe/madrid europe/lisbon america/new_york=est=edt
    america/los_angeles=pst=pdt asia/tokyo=jst europe/zurich america/chicago
issuer: let's_encrypt=letsencrypt=lets_encrypt zerossl digicert sectigo globalsign
    self-signed=self_signed=selbstsigniert buypass step-ca own_ca=internal_ca=private_ca google_trust_services
keyboard: qwerty qwertz azerty dvorak colemak bépo neo2
paper: a4 letter_size a5 us_letter legal_size
measures: metric imperial celsius fahrenheit
carrier: dhl ups fedex dpd gls usps tnt inpost mondial_relay
currency: eur=euro=euros usd=dollars gbp=pounds pln=złoty chf=franken=francs=swiss_francs jpy=yen
    nok=kroner sek=kronor dkk czk huf cad aud
flight_seat: aisle_seat=aisle window_seat middle_seat
milk: oat_milk=oat soy_milk=soy almond_milk whole_milk=cow's_milk
sparkle: still_water sparkling_water=sparkling
shirt: size_s size_m size_l size_xl=xl size_xxl=xxl
weekday_rule: even_weeks odd_weeks
secret_rotation: auto-rotated rotated_by_hand
gpu: nvidia amd_gpu intel_arc
api_style: graphql grpc rest=rest_api soap json-rpc
shape: monorepo polyrepo
transport: sse=server-sent_events websocket=websockets long_polling
schedule: opt-in opt-out
diet: vegetarian=vegetarisch=vegetarierin=vegetarier=végétarien=végétarienne=vegetariano=vegetariana=wegetarianin=
    wegetarianka=ベジタリアン vegan=vegane=veganer=veganerin=végane=végétalien=végétalienne=vegano=vegana=wegan=weganka=
    ヴィーガン=ビーガン meat_eater=eats_meat=meat=fleisch=viande=carne=
    mięso=steak=肉=eats_everything=eats_anything=omnivore=isst_alles=allesesser=mange_de_tout=come_de_todo=omnívoro=
    mangia_di_tutto=mangia_tutto=onnivoro=je_wszystko=come_de_tudo=何でも食べる=no_restrictions pescatarian=pescetarian=
    pesketarier=pescétarien=pescetariano
drink: coffee=kaffee=café=caffè=kawa=kawę=コーヒー coffee>espresso=espresso coffee>cappuccino=cappuccino
    coffee>latte=latte_macchiato coffee>flat_white=flat_white tea=tee=thé=té=tè=herbata=herbatę=chá=お茶
    tea>rooibos=rooibos tea>green=green_tea=grüner_tee tea>black=black_tea tea>earl_grey=earl_grey tea>mint=mint_tea
    water=wasser=eau=agua=acqua=woda beer=bier=bière=cerveza=birra=piwo wine=wein=vin=vino=wino juice=saft
    mate=club-mate cocoa=kakao=hot_chocolate cola milk=milch
transport_mode: bike=bicycle=fahrrad=vélo=bicicleta=bicicletta=rower=by_bike train=zug=bahn=pociąg=treno
    car=auto=voiture=coche=macchina_auto tram=straßenbahn ferry_boat bus_ride on_foot=zu_fuß
colour: blue=blau=bleu=azul=blu=niebieski=青 green=grün=vert=verde=zielony=緑
    red=rot=rouge=rojo=rosso=czerwony=vermelho=赤 yellow=gelb=jaune=amarillo=giallo=żółty=amarelo
    purple=lila=violet=morado=viola orange=naranja=arancione white=weiß=blanc=blanco=bianco=biały
    black_colour=schwarz=noir=negro=nero=czarny grey=gray=grau=gris=grigio=szary teal
sides: left-handed right-handed
disk: ssd=nvme hdd=spinning_disks
raid: raidz1=raid-z1 raidz2=raid-z2 raidz3 raid1=raid-1=mirror_raid raid5=raid-5 raid6=raid-6 raid10=raid-10
    raid0=raid-0
deploy_style: blue-green=blue/green canary rolling=rolling_update=rolling_updates recreate
versioning: semver=semantic_versioning calver=calendar_versioning
commit_style: conventional_commits=conventional_commit=angular_style gitmoji plain_sentences=free-form=freeform
quotes: single_quotes double_quotes
case_style: snake_case camelcase=camel_case kebab-case=kebab_case pascalcase=pascal_case
line_end: crlf lf_endings=lf
charset: utf-8=utf8 latin-1=iso-8859-1=latin1 utf-16 cp1252=windows-1252 shift_jis
isolation: serializable read_committed=read-committed repeatable_read=repeatable-read
server_kind: bare_metal=bare-metal virtual_machine
payment: by_card=credit_card=kreditkarte by_invoice=rechnung bank_transfer=überweisung direct_debit=lastschrift=sepa
cycle: billed_monthly billed_yearly=billed_annually
load_balancing: round_robin=round-robin least_connections=least_conn=leastconn ip_hash
sort_order: ascending descending
region: eu-central-1=frankfurt_region eu-west-1 eu-west-2 eu-west-3 us-east-1 us-east-2 us-west-1 us-west-2 eu-north-1
    fsn1 nbg1 hel1 ams3 fra1 ap-northeast-1 ap-southeast-1 europe-west1 europe-west3 europe-west4 us-central1
    westeurope northeurope eu-south-1 ap-south-1 sa-east-1
work_mode: remote=remotely onsite=on-site hybrid_work
git_transport: https_clone ssh_clone
""")
"""Class -> members."""

CASED = frozenset(
    """
    jest ses vue dart ada black borg brew c cet drone element ember est express ghost go goose helix hell linear
    matrix nano notion otter parcel phi phoenix r rest rust signal slack sphinx spring square swift tempo temporal
    unity zinc
    """.split()
)
"""Members that are also plain words: in running text they count only with a capital letter."""
