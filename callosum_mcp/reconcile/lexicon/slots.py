"""Which slots the values of a concept fill.

Above: `lexicon`. Below: nothing. ``choice`` alone is every class; ``*`` is every slot; a concept missing here
narrows nothing.
"""

from __future__ import annotations

from callosum_mcp.reconcile.lexicon.tables import table

SLOTS = {
    concept: slots
    for concepts, slots in table("""
port: port
version firmware kernel: version
release: version when
shell: choice:shell
charset: choice:charset
mail_client: choice:mail_client
browser: choice:browser
css: choice:css choice:framework
orm: choice:orm
object_store: choice:object_store
backup_tool: choice:backup_tool
bundler: choice:bundler
type_checker: choice:type_checker
docs_tool: choice:docs_tool
separator: choice:separator
radio: choice:radio
clock_format: choice:clock_format
log_stack: choice:log_stack
tracing_tool: choice:tracing_tool
dashboard: choice:dashboard
error_tracker: choice:error_tracker
wiki_tool: choice:wiki
template: choice:template
commit_style: choice:commit_style
line_end: choice:line_end
paper: choice:paper
case_style: choice:case_style
payment: choice:payment
cycle: choice:cycle
load_balancing: choice:load_balancing
process_manager: choice:process_manager choice:orchestrator
service_mesh: choice:service_mesh
migration_tool: choice:migration_tool
http_client: choice:http_client
erp: choice:erp
ticket: choice:ticket choice:tracker
game_engine: choice:game_engine
sync: choice:sync
init: choice:init
transport_mode: choice:transport_mode
video: choice:video
workflow: choice:workflow
dns_server: choice:dns_server ip fqdn host
idp: choice:idp
hypervisor: choice:hypervisor
keyboard: choice:keyboard
carrier: choice:carrier
currency: choice:currency
cms: choice:cms
iac: choice:iac
container_engine: choice:container_engine
quotes: choice:quotes
raid: choice:raid
array: choice:raid state:health
versioning: choice:versioning
restart: choice:restart
api_style: choice:api_style
isolation: choice:isolation
deploy_style: choice:deploy_style
work_mode: choice:work_mode
contact: person mail phone
chair manager ceo cto director secretary coach landlord successor admin doctor: person
headcount: number
rotation: when number:time
address: ip fqdn mail url phone street open
mail: mail choice:mta
url domain: url fqdn path ip port
path: path
config: path *
host: host fqdn ip
owner oncall reviewer author: person
database: choice:database version
cache: choice:database
broker: choice:broker choice:database
auth: choice:auth
licence: choice:licence
ci: choice:ci *
test_runner: choice:test_runner
linter: choice:linter
formatter: choice:formatter choice:linter
format: choice:format
level: choice:log_level number open
language: choice:human_language choice:code_language open
theme: choice:theme open
indent: choice:indent number
merge: choice:merge
branch: choice:branch open
orchestrator: choice:orchestrator
proxy_server: choice:proxy
os: choice:os version
editor: choice:editor
compression: choice:compression open
datatype: choice:datatype open
model: choice:model open
registry: fqdn url choice:registry
policy: choice:eviction choice:restart number open
timezone: choice:timezone open
region: choice:region open
room: room open
home: place street
phone: phone number
vlan: number:id:vlan number open
subnet: ip
user: open
replication: state
mode: state choice open
percentage: number:percent
temperature: number:temp
floor: number
memory disk: number:bytes number:percent choice:disk
cpu: number
capacity limit size batch pool threshold coverage rate: number
timeout ttl retention: number:time
length: number
retry: number when
interval: number:time when
schedule: when number:time choice:schedule
replicas seats users nodes workers: number
price budget: number:money
time: when number:time
expiry anniversary launch deadline birthday day date start holiday meeting party kickoff review_event: when
status: state number:percent
flag: state
allergy: state:allergy
diet: choice:diet
drink: choice:drink
issuer: choice:issuer open
mta: choice:mta
framework: choice:framework
package_manager: choice:package_manager
secret_store: choice:secret_store
tracker: choice:tracker
chat: choice:chat
monitoring: choice:monitoring
search_engine: choice:search
vpn: choice:vpn state
filesystem: choice:filesystem
algorithm: choice:algorithm open
vector_store: choice:database
provider: choice:provider open
forge: choice:forge
base_image: choice:os choice:code_language choice:runtime
hours: when
name ssid bucket: open
channel: open number choice:chat_channel
blood_group: choice:blood_group
clothing: choice:clothing_size
colour: choice:colour choice:hex_colour open
""").items()
    for concept in concepts.split()
}
"""Concept -> slots, separated by spaces."""
