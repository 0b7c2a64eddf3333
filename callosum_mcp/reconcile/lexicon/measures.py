"""Units, currencies, number words, weekdays, months and rhythms in nine languages.

Above: `lexicon`. Below: nothing.
"""

from __future__ import annotations

from callosum_mcp.reconcile.lexicon.tables import table

_UNITS = table("""
bytes 1.0: b bytes byte octets
bytes 1000.0: kb
bytes 1024.0: kib
bytes 1000000.0: mb mo megabytes megabyte
bytes 1048576.0: mib
bytes 1000000000.0: gb go gigabytes gigabyte gig
bytes 1073741824.0: gib
bytes 1000000000000.0: tb terabytes terabyte tera
bytes 1099511627776.0: tib
bytes 1000000000000000.0: pb
time 0.001: ms millisecond milliseconds millisekunden millisecondes milisegundos millisecondi milisekund
time 1.0: s sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondo secondi sekund sekundy
    秒
time 60.0: min mins minute minutes minuten minuto minutos minuti minut minuty 分
time 3600.0: h hr hrs hour hours stunde stunden heure heures hora horas ora ore godzin godzina godziny 時間
time 86400.0: d day days tag tage tagen jour jours día días dia dias giorno giorni dni dzień 日間 日
time 604800.0: week weeks woche wochen semaine semaines semana semanas settimana settimane tydzień tygodnie tygodni
    週間
time 2629800.0: month months mo_ monat monate monaten mois mes meses mese mesi miesiąc miesiące miesięcy mês ヶ月 か月
time 31557600.0: year years yr yrs jahr jahre jahren an ans année années año años anno anni rok lata lat ano anos 年間
percent 1.0: % percent prozent pour_cent por_ciento per_cento procent por_cento パーセント
freq 1.0: hz
freq 1000.0: khz
freq 1000000.0: mhz
freq 1000000000.0: ghz
power 1.0: w watt watts
power 1000.0: kw
temp 1.0: °c ° degrees degree grad gradi grado degrés grados stopni graus celsius 度
bits 1000000.0: mbit mbit/s mbps mbit/sec
bits 1000000000.0: gbit gbit/s gbps
bits 1000.0: kbit
length 0.001: mm
length 0.01: cm centimetres centimeters zentimeter centimètres
length 1000.0: km kilometres kilometers kilometer
length 0.0254: inch inches zoll
length 1609.0: mile miles
length 1.0: metres meters metre meter mètres metros metri
volume 0.001: ml milliliter milliliters millilitre millilitres
volume 1000.0: m³ cubic_metres kubikmeter
volume 0.01: cl centilitre centilitres centiliter centiliters
volume 3.785: gallon gallons gal
volume 1.0: l liter liters litre litres litros litri litrów
dpi 1.0: dpi
sound 1.0: db decibel dezibel
energy 1.0: wh
energy 1000.0: kwh
pressure 1.0: bar
voltage 1.0: v volt volts
mass 1000.0: t tonnes tonne tonnen tons
mass 1.0: kg kilo kilos
mass 0.001: g gram grams gramm grammes gramos grammi gramów gramas
mass 0.000001: mg milligram milligrams milligramm
mass 0.000000001: µg μg mcg microgram micrograms mikrogramm microgramos
mass 0.4536: lb lbs
mass 0.02835: oz ounce ounces
mass 100.0: quintal quintals
""")
UNITS = [(*name.split(), words) for name, words in _UNITS.items()]
"""(dimension, factor to the base unit, unit words)."""

CURRENCIES = table("""
EUR: € eur euro euros euri ユーロ
USD: $ usd dollar dollars dólares dollari dolarów ドル
GBP: £ gbp pound pounds
PLN: zł pln złotych złote
JPY: ¥ jpy yen 円
CHF: chf franken franc francs swiss_francs
BRL: r$ brl reais
SEK: sek kronor
NOK: nok kroner
DKK: dkk
CZK: czk koruna korun
HUF: huf forint
CAD: cad
AUD: aud
""")
"""Currency -> its names."""

MULTIPLIERS = table("""
1000.0: k thousand tausend mille mil mila tysięcy tys 千 k€
1000000.0: million millions mio millionen millones milioni milionów m€
12.0: dozen dutzend
10000.0: 万
""")
"""Factor -> words and letters that multiply the number before them."""

NUMERALS = table("""
0: zero null zéro
1: one single eins uno jeden jedna 一つ
2: two zwei deux dos due dwa dwie dois duas 二つ
3: three drei trois tres tre trzy três 三つ
4: four vier quatre cuatro quattro cztery quatro
5: five fünf cinq cinco cinque pięć
6: six sechs seis sei sześć
7: seven sieben sept siete sette siedem sete
8: eight acht huit ocho otto osiem oito
9: nine neun neuf nueve nove dziewięć
10: ten zehn dix diez dieci dziesięć dez
11: eleven elf onze undici jedenaście
12: twelve zwölf douze doce dodici dwanaście doze
13: thirteen dreizehn
14: fourteen vierzehn quatorze
15: fifteen fünfzehn quinze quince quindici piętnaście
16: sixteen sechzehn seize
18: eighteen achtzehn
20: twenty zwanzig vingt veinte venti dwadzieścia vinte
24: twenty-four vierundzwanzig
30: thirty dreißig trente treinta trenta trzydzieści trinta
40: forty vierzig quarante cuarenta quaranta
45: forty-five fünfundvierzig
50: fifty fünfzig cinquante cincuenta cinquanta
60: sixty sechzig soixante sesenta sessanta
90: ninety neunzig noventa novanta
100: hundred hundert cent cien cento sto cem
1000: thousand_one
""")
"""Number -> its words."""

FRACTIONS = table("""
0.5: half die_hälfte la_moitié la_mitad la_metà połowa
0.25: quarter
0.75: three_quarters drei_viertel trois_quarts tres_cuartos tre_quarti trzy_czwarte
0.6666666666666666: two_thirds
0.3333333333333333: one_third a_third
""")
"""Fractions as words; as a coverage or a share they are percents."""

WEEKDAYS = table("""
0: monday mondays mon montag montags lundi lunes lunedì poniedziałek poniedziałki segunda segunda-feira 月曜日 月曜
1: tuesday tuesdays tue tues dienstag dienstags mardi martes martedì wtorek wtorki terça terça-feira 火曜日 火曜
2: wednesday wednesdays wed mittwoch mittwochs mercredi miércoles mercoledì środa środy środę quarta quarta-feira
    水曜日 水曜
3: thursday thursdays thu thurs donnerstag donnerstags jeudi jueves giovedì czwartek czwartki quinta quinta-feira
    木曜日 木曜
4: friday fridays fri freitag freitags vendredi viernes venerdì piątek piątki sexta sexta-feira 金曜日 金曜
5: saturday saturdays sat samstag samstags samedi sábado sabato sobota soboty sobotę 土曜日 土曜
6: sunday sundays sun sonntag sonntags dimanche domingo domenica niedziela niedziele niedzielę 日曜日 日曜
""")
"""Weekday (Monday is 0) -> its names."""

MONTHS = table("""
1: january jan januar janvier enero gennaio styczeń stycznia janeiro 1月
2: february feb februar février febrero febbraio luty lutego fevereiro 2月
3: march mar märz mars marzo marzec marca março 3月
4: april apr avril abril aprile kwiecień kwietnia 4月
5: may mai mayo maggio maj maja maio 5月
6: june jun juni juin junio giugno czerwiec czerwca junho 6月
7: july jul juli juillet julio luglio lipiec lipca julho 7月
8: august aug août agosto sierpień sierpnia 8月
9: september sep sept septembre septiembre settembre wrzesień września setembro 9月
10: october oct oktober okt octobre octubre ottobre październik października outubro 10月
11: november nov novembre noviembre listopad listopada novembro 11月
12: december dec dezember dez décembre diciembre dicembre grudzień grudnia dezembro 12月
""")
"""Month -> its names."""

RHYTHMS = table("""
hourly: hourly every_hour stündlich jede_stunde toutes_les_heures cada_hora ogni_ora co_godzinę 毎時
minutely: every_minute every_quarter_of_an_hour every_few_minutes
twice-daily: twice_a_day twice_daily zweimal_täglich zweimal_am_tag deux_fois_par_jour dos_veces_al_día
    due_volte_al_giorno dwa_razy_dziennie duas_vezes_por_dia duas_vezes_ao_dia 1日2回
twice-weekly: twice_a_week twice_weekly zweimal_pro_woche deux_fois_par_semaine dos_veces_por_semana
    due_volte_a_settimana dwa_razy_w_tygodniu duas_vezes_por_semana 週2回
daily: daily nightly every_day every_night each_day each_night once_a_day täglich nächtlich jede_nacht jeden_tag
    quotidien quotidienne quotidiennement chaque_jour chaque_nuit tous_les_jours toutes_les_nuits diario diaria
    diariamente cada_día cada_noche todos_los_días giornaliero giornaliera ogni_giorno ogni_notte quotidiano
    codziennie co_noc każdej_nocy diário diária todos_os_dias toda_noite 毎日 毎晩 日次 every_working_day
    every_weekday every_morning every_evening
weekly: einmal_pro_woche einmal_die_woche une_fois_par_semaine una_vez_a_la_semana
    una_volta_a_settimana raz_w_tygodniu uma_vez_por_semana weekly once_a_week every_week each_week
    per_week_once wöchentlich jede_woche hebdomadaire
    chaque_semaine
    toutes_les_semaines semanal semanalmente cada_semana settimanale ogni_settimana co_tydzień tygodniowo cotygodniowy
    toda_semana 毎週 週次 週一回 週1回
biweekly: biweekly fortnightly every_two_weeks every_other_week every_second_week alle_zwei_wochen zweiwöchentlich
    toutes_les_deux_semaines cada_dos_semanas ogni_due_settimane co_dwa_tygodnie quinzenal 隔週
monthly: einmal_im_monat une_fois_par_mois una_vez_al_mes una_volta_al_mese raz_w_miesiącu uma_vez_por_mês
    monthly once_a_month every_month each_month monatlich jeden_monat mensuel mensuelle chaque_mois mensual
    mensualmente cada_mes mensile ogni_mese miesięcznie co_miesiąc mensal todo_mês 毎月 月次
quarterly: quarterly every_quarter once_a_quarter vierteljährlich trimestriel trimestral trimestrale
    kwartalnie 四半期ごと
half-yearly: half-yearly semi-annually semiannually twice_a_year every_half_year halbjährlich zweimal_im_jahr
    semestriel deux_fois_par_an semestral dos_veces_al_año semestrale due_volte_all'anno dwa_razy_w_roku
    duas_vezes_por_ano 半年ごと 年2回
yearly: once_a_year einmal_im_jahr einmal_pro_jahr une_fois_par_an una_vez_al_año una_volta_all'anno raz_w_roku
    uma_vez_por_ano yearly annually annual every_year jährlich annuel anual annuale rocznie co_rok 毎年 年次
""")
"""Rhythm -> its words."""

PER_NOUNS = table("""
seat: seat sitz place siège puesto posto
user: user benutzer nutzer utilisateur usuario utente użytkownika usuário person head
key: key schlüssel token
request: request requests req anfrage
ip: ip address client
node: node knoten host server
tb: tb
gb: gb
item: item piece stück
""")
"""What a price or a rate may be per, besides time and bytes."""
