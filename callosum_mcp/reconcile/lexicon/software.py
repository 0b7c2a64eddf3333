"""Software and services, by what they are used for.

Above: `lexicon`. Below: nothing. A member is ``name`` or ``name=alias=alias``; ``a>b`` is a kind of ``a``, so the
two agree.
"""

from __future__ import annotations

from callosum_mcp.reconcile.lexicon.tables import table

SOFTWARE = table("""
database: postgres=postgresql=psycopg=pg=psycopg2=asyncpg mysql=pymysql mariadb sqlite=sqlite3 mongodb=mongo=pymongo
    oracle mssql=sql_server cockroachdb=cockroach cassandra dynamodb redis=valkey_redis valkey duckdb clickhouse
    influxdb couchdb neo4j timescaledb firebird db2 elasticsearch_db qdrant milvus weaviate chroma=chromadb pgvector
    faiss memcached=memcache etcd leveldb rocksdb firestore scylladb=scylla dragonfly lancedb
broker: rabbitmq=rabbit=amqp=pika kafka nats redis_streams=xreadgroup sqs pulsar zeromq=zmq mosquitto=mosquitto_mqtt
    activemq celery redpanda beanstalkd
auth: saml=saml2 oauth2=oauth oauth2>oidc=openid_connect=openid=oidc ldap=active_directory basic_auth=http_basic
    kerberos passkeys=webauthn=fido2 magic_link=magic_links api_key=api_keys mtls=client_certificates
    password=passwords=passwort=mot_de_passe jwt=bearer_token radius
ci: jenkins=jenkinsfile github_actions=.github/workflows=gha gitlab_ci=gitlab-ci=gitlab_runner circleci
    travis=travis_ci drone woodpecker teamcity buildkite azure_pipelines=azure_devops bamboo concourse tekton
    forgejo_actions=gitea_actions buildbot
test_runner: jest vitest mocha ava jasmine karma pytest unittest nose nose2 junit testng rspec minitest phpunit nunit
    xunit cypress playwright selenium catch2 googletest=gtest cargo-nextest=nextest
linter: eslint biome ruff flake8 pylint tslint oxlint golangci-lint rubocop stylelint clippy
formatter: black ruff_format=ruff-format prettier yapf autopep8 gofmt rustfmt clang-format dprint
code_language: python=python3 golang=go rust=rustc java=jdk=javac kotlin scala javascript=js typescript=ts ruby
    php c#=csharp=dotnet c++=cpp swift elixir haskell perl lua zig dart clojure erlang julia ocaml
orchestrator: kubernetes=k8s kubernetes>k3s=k3s kubernetes>openshift=openshift kubernetes>rke2=rke2 nomad
    docker_swarm=swarm docker_compose=compose mesos ecs systemd=systemd_units
proxy: nginx caddy traefik haproxy apache_httpd=httpd envoy lighttpd varnish iis gunicorn uvicorn
os: debian=debian_gnu/linux ubuntu fedora arch_linux nixos alpine openwrt opnsense pfsense centos rhel
    rocky_linux=rocky almalinux=alma opensuse=suse windows macos freebsd openbsd proxmox=proxmox_ve=pve truenas unraid
    raspberry_pi_os raspbian gentoo ios android
editor: vim neovim=nvim emacs vs_code=vscode=visual_studio_code intellij pycharm sublime_text=sublime zed helix nano
    cursor_editor webstorm kate
compression: zstd=zstandard gzip=gz lz4 brotli xz=lzma bzip2 snappy lzo
datatype: bigint=int8 int=integer=int4 uuid=uuidv7=uuid_v7=uuidv4=uuid_v4 varchar=text_column serial ulid smallint
    jsonb decimal=numeric float=double_precision boolean timestamptz=timestamp snowflake_id=snowflake
model: bge-m3=bge_m3 nomic=nomic-embed-text=nomic-embed e5=e5-large=multilingual-e5 minilm=all-minilm gte=gte-large
    jina=jina-embeddings ada-002 text-embedding-3 mpnet mxbai=mxbai-embed-large qwen=qwen3=qwen2.5 llama=llama3
    mistral=mistral_7b gemma phi gpt-4=gpt-4o claude whisper snowflake-arctic deepseek gpt-5 haiku sonnet opus_model
mta: postfix exim=exim4 sendmail opensmtpd qmail stalwart maddy haraka
framework: django flask fastapi starlette rails=ruby_on_rails laravel symfony spring=spring_boot express nestjs
    next.js=nextjs nuxt react vue=vue.js angular svelte=sveltekit solidjs phoenix litestar tornado aiohttp htmx remix
    astro preact qt gtk electron tauri
package_manager: npm=npm_ci pnpm yarn bun pip poetry uv pdm conda=mamba pipenv maven gradle cargo=cargo_build composer
    bazel
secret_store: hashicorp_vault=vault_kv sops 1password bitwarden=vaultwarden aws_secrets_manager keepass=keepassxc
    infisical doppler sealed_secrets=sealed-secrets
tracker: jira linear redmine youtrack github_issues gitlab_issues trello asana bugzilla taiga openproject
chat: slack mattermost matrix=element rocket.chat zulip discord microsoft_teams=ms_teams telegram
    signal_messenger=signal-group irc
monitoring: prometheus zabbix nagios icinga datadog new_relic checkmk netdata uptime_kuma=uptime-kuma victoriametrics
search: elasticsearch opensearch meilisearch typesense solr sphinx=sphinxsearch tantivy algolia vespa zinc
vpn: wireguard openvpn ipsec=strongswan tailscale zerotier headscale nebula
filesystem: ext4 xfs btrfs zfs ntfs exfat bcachefs f2fs apfs
algorithm: sha-256=sha256 sha-1=sha1 md5 bcrypt argon2=argon2id scrypt pbkdf2 blake3=blake2 ed25519
    rsa=rsa-4096=rsa-2048 hs256 rs256 es256 aes=aes-256 chacha20 sha-512=sha512 ecdsa
provider: aws=amazon_web_services azure gcp=google_cloud hetzner ovh=ovhcloud digitalocean linode scaleway vultr
    netcup ionos cloudflare backblaze=b2 wasabi route53 gandi namecheap hostinger stripe paypal adyen mollie sendgrid
    mailgun postmark ses brevo
runtime: node=nodejs=node.js deno bun_runtime jvm=openjdk=temurin cpython=pypy
mail_client: thunderbird mutt=neomutt outlook apple_mail kmail evolution_mail gmail aerc k-9_mail fastmail_app
    mailspring
browser: firefox chrome=chromium safari brave vivaldi opera_browser librewolf microsoft_edge
css: bootstrap tailwind=tailwindcss bulma pico_css foundation_css unocss
orm: sqlalchemy prisma typeorm hibernate peewee sequelize drizzle tortoise knex diesel sqlx sqlmodel django_orm
    mongoose
object_store: minio s3=amazon_s3=aws_s3 ceph garage_store seaweedfs azure_blob gcs swift_store
backup_tool: restic borg=borgbackup rsync duplicity kopia rclone bacula veeam duplicati rsnapshot zfs_send syncoid
    urbackup
bundler: vite webpack rollup esbuild parcel_bundler turbopack rspack
type_checker: mypy pyright pytype basedpyright
process_manager: supervisord=supervisor pm2 runit launchd monit
docs_tool: sphinx_docs mkdocs docusaurus hugo jekyll antora mdbook vitepress
log_stack: loki graylog splunk fluentd fluent-bit logstash promtail
tracing_tool: jaeger zipkin tempo honeycomb
dashboard: grafana kibana metabase superset redash
error_tracker: sentry glitchtip rollbar bugsnag
wiki: confluence bookstack mediawiki dokuwiki notion wiki.js xwiki obsidian outline_wiki
video: zoom jitsi google_meet bigbluebutton whereby webex microsoft_teams_call
workflow: airflow temporal prefect dagster n8n luigi argo_workflows
dns_server: bind9=named unbound coredns dnsmasq adguard powerdns knot_dns technitium
idp: keycloak authentik authelia okta auth0 entra zitadel kanidm
service_mesh: istio linkerd consul_connect
migration_tool: alembic flyway liquibase goose dbmate
template: jinja=jinja2 handlebars mustache twig nunjucks mako liquid ejs pug erb freemarker thymeleaf velocity smarty
    haml mjml tera blade_templates razor
http_client: httpx axios urllib3 requests_library okhttp
hypervisor: esxi=vmware kvm=libvirt hyper-v virtualbox xen qemu
erp: sap odoo datev lexware quickbooks xero erpnext dolibarr
cms: wordpress drupal typo3 strapi ghost contentful joomla directus
ticket: zendesk freshdesk zammad otrs freescout
game_engine: unity unreal godot
sync: syncthing nextcloud dropbox google_drive onedrive owncloud seafile
iac: terraform opentofu=tofu pulumi ansible puppet chef saltstack cloudformation
container_engine: docker=dockerd podman containerd cri-o lxc=lxd
registry: harbor ghcr=ghcr.io docker_hub=docker.io ecr=aws_ecr quay=quay.io artifactory gitlab_registry
forge: github gitlab gitea forgejo bitbucket codeberg
init: openrc runit s6
shell: bash zsh fish nushell powershell
""")
"""Class -> members."""

SHARED = {
    "redis": "database broker",
    "sphinx": "search docs_tool",
    "sqlite": "database",
    "npm": "package_manager",
    "docker": "container_engine",
    "biome": "linter formatter",
    "ruff": "linter formatter",
    "proxmox": "os hypervisor",
    "systemd": "orchestrator init process_manager",
    "bun": "package_manager runtime",
}
"""Members that play in more classes than the one that names them."""
