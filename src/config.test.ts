import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from './config.ts'
import { ConfigError, settings, settingsOfVersions } from './settings.ts'

/** The faults of an environment, a sentence each; none where it is good. */
const faultsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  try {
    loadConfig(environment, settingsOfVersions([1, 2]))
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.message.split('\n')
  }
}

const bad: readonly (readonly [string, string, RegExp])[] = [
  ['DUET_ENV', 'prod', /^must be development or production$/],
  ['DUET_ENV', 'Production', /^must be development or production$/],
  ['DUET_PORT', 'http', /^must be a port number, 0 to 65535$/],
  ['DUET_PORT', '-1', /^must be a port number, 0 to 65535$/],
  ['DUET_PORT', '65536', /^must be a port number, 0 to 65535$/],
  ['DUET_PORT', '80.5', /^must be a port number, 0 to 65535$/],
  ['DUET_PORT', '0x50', /^must be a port number, 0 to 65535$/],
  ['DUET_PORT', ' ', /^must be a port number, 0 to 65535$/],
  ['PORT', 'none', /^must be a port number, 0 to 65535$/],
  ['DUET_DATABASE_URL', './data/duet.db', /^must be sqlite:PATH/],
  ['DUET_DATABASE_URL', 'mysql://localhost/duet', /^must be sqlite:PATH/],
  ['DUET_DATABASE_URL', 'postgres://one,/duet', /^must be sqlite:PATH/],
  ['DUET_REPLICA_URLS', 'automatic', /^must be auto, or postgres:/],
  ['DUET_PATRONI_URLS', 'one:8008', /^must be http or https URLs/],
  ['DUET_DATABASE_URL', 'sqlite:', /^must be sqlite:PATH/],
  ['DUET_DATABASE_URL', 'sqlite::memory:', /^must be sqlite:PATH/],
  ['DUET_DATABASE_URL', 'sqlite://duet.db', /^must be sqlite:PATH/],
  ['DUET_DATABASE_URL', 'sqlite: ./duet.db', /^must be sqlite:PATH/],
  ['DUET_DATABASE_URL', 'sqlite:./duet.db\n', /^must be sqlite:PATH/],
  ['DUET_FILES', './files ', /^must have no white space or quotation marks around it$/],
  ['DUET_FILES', '"/data/files"', /^must have no white space or quotation marks around it$/],
  ['DUET_FILES', 's3://b?region=a&endpont=http://x', /^must be a folder, or s3:\/\/BUCKET/],
  ['DUET_HOST', ' ', /^must have no white space/],
  [
    'DUET_DATABASE_URL',
    'postgres://localhost',
    /or postgres:\/\/USER:PASSWORD@HOST\/DATABASE, with each \/ .* of a password as %2F/,
  ],
  ['DUET_JWKS_URL', 'keys.json', /^must be an http or https URL$/],
  ['DUET_JWKS_URL', 'file:///etc/passwd', /^must be an http or https URL$/],
  ['DUET_INTROSPECTION', 'true', /^must be on or off$/],
  ['DUET_CORS_ORIGINS', 'example.org', /^must be \* or origins such as https:\/\/example\.org/],
  ['DUET_CORS_ORIGINS', 'https://example.org/', /^must be \* or origins/],
  ['DUET_CORS_ORIGINS', 'https://a.example, *', /^must be \* or origins/],
  [
    'DUET_CORS_HEADERS',
    'sentry-trace, a b',
    /^must be \* or names of headers such as sentry-trace/,
  ],
  ['DUET_CORS_HEADERS', 'x-a,', /^must be \* or names of headers/],
  ['DUET_PUBLIC_MAX_AGE', '-1', /^must be a whole number from 0 to 31536000$/],
  ['DUET_PUBLIC_MAX_AGE', '1h', /^must be a whole number from 0 to 31536000$/],
  ['DUET_MAX_BODY', '1023', /^must be a whole number from 1024 to 104857600$/],
  ['DUET_MAX_BODY', '1 MB', /^must be a whole number/],
  ['DUET_MAX_URL', '255', /^must be a whole number from 256 to 16384$/],
  ['DUET_MAX_DEPTH', '0', /^must be a whole number from 1 to 100$/],
  ['DUET_MAX_SOURCE', '1e9', /^must be a whole number from 64 to 1048576$/],
  ['DUET_MAX_TOKENS', '9', /^must be a whole number from 10 to 100000$/],
  ['DUET_MAX_COMMENTS', 'none', /^must be a whole number from 0 to 100000$/],
  ['DUET_MAX_ALIASES', '10001', /^must be a whole number from 0 to 10000$/],
  ['DUET_MAX_DIRECTIVES', '1.5', /^must be a whole number/],
  ['DUET_MAX_ROOT_FIELDS', '0', /^must be a whole number from 1 to 1000$/],
  ['DUET_MAX_OBJECTS', 'Infinity', /^must be a whole number from 1 to 1000000$/],
  ['DUET_MAX_RESPONSE', '99999999999', /^must be a whole number from 1024 to 1073741824$/],
  ['DUET_READ_TIMEOUT', '5s', /^must be a whole number from 10 to 600000$/],
  ['DUET_WRITE_WAIT', '99ms', /^must be a time .*, at least 100ms and at most 10m$/],
  ['DUET_WRITE_WAIT', '11m', /^must be a time/],
  ['DUET_WRITE_QUEUE', '0', /^must be a whole number from 1 to 100000$/],
  ['DUET_SMTP_URL', 'mail.example.org:25', /^must be smtp:\/\/ or smtps:\/\/ with a host/],
  ['DUET_SMTP_URL', 'http://mail.example.org', /^must be smtp:/],
  ['DUET_SMTP_URL', 'smtp://', /^must be smtp:/],
  ['DUET_SMTP_URL', 'smtp://mail.example.org/inbox', /^must be smtp:/],
  ['DUET_SMTP_URL', 'smtp://mail.example.org?pool=true', /^must be smtp:/],
  ['DUET_SMTP_URL', 'smtp://user:50%@mail.example.org', /each .* % of a password as .* %25$/],
  ['DUET_SMTP_URL', 'smtp://50%:pass@mail.example.org', /^must be smtp:/],
  ['DUET_MAIL_FROM', 'Duet', /^must be an address, such as Duet <duet@example\.org>$/],
  ['DUET_MAIL_FROM', 'a@example.org, b@example.org', /^must be an address/],
  ['DUET_MAIL_FROM', 'a@example.org\r\nBcc: b@example.org', /^must be an address/],
  ['DUET_PUBLIC_URL', 'example.org', /^must be an http or https URL without query/],
  ['DUET_PUBLIC_URL', 'ftp://example.org', /^must be an http or https URL/],
  ['DUET_PUBLIC_URL', 'https://example.org/?a=b', /^must be an http or https URL/],
  ['DUET_PUBLIC_URL', 'https://example.org/#a', /^must be an http or https URL/],
  ['DUET_PUBLIC_URL', 'https://a:b@example.org/', /^must be an http or https URL/],
  ['DUET_SHUTDOWN_TIMEOUT', '600001', /^must be a whole number from 0 to 600000$/],
  ['DUET_V1_DEPRECATED', '2027-02-29', /^must be a day that the calendar has/],
  ['DUET_V1_DEPRECATED', 'tomorrow', /^must be a day/],
  ['DUET_DEPRECATION', 'yes', /^must be true or date$/],
  ['DUET_NOTICE', 'none', /^must be told or kept$/],
  ['DUET_LOG', 'debug', /^must be info, warn, error or silent$/],
]
for (const [name, value, sentence] of bad)
  test(`${name}=${value} is refused by name, without its value [H14]`, () => {
    const faults = faultsOf({ [name]: value })
    assert.equal(faults.length, 1)
    const [first = '', rest = ''] = faults[0]?.split(/ (.*)/s) ?? []
    assert.equal(first, name)
    assert.match(rest, sentence)
  })

test('what a list names twice counts once, and so do its faults', () => {
  const faults = faultsOf({ DUET_OIDC: 'corp, corp' })
  assert.deepEqual(
    faults.map(fault => fault.split(' ', 1)[0]),
    ['DUET_OIDC_CORP_ISSUER', 'DUET_OIDC_CORP_CLIENT_ID', 'DUET_OIDC_CORP_CLIENT_SECRET'],
  )
})

test('all faults are told at once, a line each', () => {
  const faults = faultsOf({
    DUET_PORT: 'x',
    DUET_LOG: 'x',
    DUET_MAX_DEPTH: 'x',
    DUET_NONSENSE: 'x',
  })
  assert.equal(faults.length, 4)
})

test('an unknown name is told with the setting it was meant for', () => {
  assert.deepEqual(faultsOf({ DUET_DATABASE: 'sqlite:./x.db' }), [
    'DUET_DATABASE is not a setting; did you mean DUET_DATABASE_URL?',
  ])
  assert.deepEqual(faultsOf({ DUET_MAX_DEPHT: '3' }), [
    'DUET_MAX_DEPHT is not a setting; did you mean DUET_MAX_DEPTH?',
  ])
  assert.deepEqual(faultsOf({ DUET_PROT: '1' }), [
    'DUET_PROT is not a setting; did you mean DUET_PORT?',
  ])
  assert.deepEqual(faultsOf({ DUET_LOGS: '1' }), [
    'DUET_LOGS is not a setting; did you mean DUET_LOG?',
  ])
  assert.deepEqual(faultsOf({ duet_port: '1', Duet_Prot: '1' }), [
    'duet_port is not a setting; did you mean DUET_PORT?',
    'Duet_Prot is not a setting; did you mean DUET_PORT?',
  ])
})

test('what Kubernetes makes of a Service is told with the way to be without it', () => {
  for (const name of ['DUET_SERVICE_HOST', 'DUET_SERVICE_PORT_HTTP', 'DUET_PORT_80_TCP_ADDR'])
    assert.deepEqual(faultsOf({ [name]: '10.0.0.1' }), [
      `${name} is not a setting; if Kubernetes made it from a Service, set enableServiceLinks: false`,
    ])
})

test('an unknown name that is like no setting is told with the place where they are listed', () => {
  for (const name of ['DUET_AGE', 'DUET_MAX', 'DUET_DATA', 'DUET_COFFEE', 'DUET_FOO'])
    assert.deepEqual(faultsOf({ [name]: '1' }), [
      `${name} is not a setting; docs/settings.md lists them all`,
    ])
  const issuer = 'DUET_OIDC_GOOGLE_ISSUER'
  assert.deepEqual(faultsOf({ [issuer]: 'https://accounts.google.com' }), [
    `${issuer} is not a setting of a provider that DUET_OIDC names; docs/settings.md lists them all`,
  ])
})

test('a name of other programs is nobody’s fault', () => {
  assert.deepEqual(faultsOf({ HOME: '/root', DUETTO: '1' }), [])
})

test('one kind of key is chosen and not several', () => {
  const [fault, ...more] = faultsOf({ DUET_AUTH_SECRET: 'hunter2', DUET_JWKS_FILE: 'keys.json' })
  assert.match(fault ?? '', /^DUET_AUTH_SECRET and DUET_JWKS_FILE cannot be set together/)
  assert.deepEqual(more, [])
  assert.match(
    faultsOf({ DUET_JWKS_URL: 'https://a.example/keys', DUET_JWKS_FILE: 'keys.json' })[0] ?? '',
    /^DUET_JWKS_URL and DUET_JWKS_FILE cannot be set together/,
  )
})

test('a mail server needs a sender, and in production the address that links lead to', () => {
  const server = { DUET_SMTP_URL: 'smtp://user:p%40ss@mail.example.org:587' }
  assert.deepEqual(faultsOf(server), ['DUET_MAIL_FROM is needed if DUET_SMTP_URL is set'])
  assert.deepEqual(faultsOf({ ...server, DUET_ENV: 'production' }), [
    'DUET_MAIL_FROM is needed if DUET_SMTP_URL is set',
    'DUET_PUBLIC_URL is needed if DUET_SMTP_URL is set',
  ])
  const whole = {
    ...server,
    DUET_ENV: 'production',
    DUET_MAIL_FROM: 'Duet <duet@example.org>',
    DUET_PUBLIC_URL: 'https://example.org/content/',
  }
  assert.deepEqual(faultsOf(whole), [])
  assert.equal(loadConfig(whole).values.DUET_PUBLIC_URL, 'https://example.org/content')
})

test('the sender may be an address alone, or none where there is no mail server', () => {
  assert.deepEqual(faultsOf({ DUET_MAIL_FROM: 'duet@example.org' }), [])
  assert.deepEqual(faultsOf({ DUET_SMTP_URL: 'smtps://[::1]', DUET_MAIL_FROM: 'a@b.example' }), [])
})

test('no value gets into a message: it may be a secret put into the wrong place [H14]', () => {
  const secret = 'kX9vQ2mT7pLwZ4rB8nYc5hJd1sGf6aEu'
  for (const name of Object.keys(settings)) {
    const told = faultsOf({ [name]: secret, DUET_JWKS_FILE: 'x', [`${name}_X`]: secret }).join('\n')
    assert.ok(!told.includes(secret), told)
  }
})

test('an empty value is as good as none', () => {
  const empty = Object.fromEntries(Object.keys(settings).map(name => [name, '']))
  assert.deepEqual(loadConfig({ ...empty, PORT: '' }), loadConfig({}))
})

test('development listens on loopback and production on every address, unless told otherwise', () => {
  assert.equal(loadConfig({}).host, '127.0.0.1')
  assert.equal(loadConfig({ DUET_ENV: 'production' }).host, '0.0.0.0')
  for (const host of ['::1', '[::1]'])
    assert.equal(loadConfig({ DUET_ENV: 'production', DUET_HOST: host }).host, '::1')
})

test('PORT counts where DUET_PORT is unset, and 3000 without either', () => {
  assert.equal(loadConfig({}).port, 3000)
  assert.equal(loadConfig({ PORT: '8080' }).port, 8080)
  assert.equal(loadConfig({ PORT: '8080', DUET_PORT: '0' }).port, 0)
})

test('the file of the store is an absolute path', () => {
  const files = [
    ['sqlite:/var/lib/duet.db', '/var/lib/duet.db'],
    ['sqlite:x/duet.db', `${process.cwd()}/x/duet.db`],
  ] as const
  for (const [url, file] of files)
    assert.deepEqual(loadConfig({ DUET_DATABASE_URL: url }).store, { kind: 'sqlite', file })
})

test('a store in PostgreSQL is named by its URL, and only such a store has replicas', () => {
  const url = 'postgres://duet:p%40ss@db.example.org:5432/duet?sslmode=require'
  assert.deepEqual(loadConfig({ DUET_DATABASE_URL: url }).store, { kind: 'postgres', url })
  const replicas = { DUET_REPLICA_URLS: 'postgres://one/duet, postgresql://two/duet' }
  assert.deepEqual(loadConfig({ DUET_DATABASE_URL: url, ...replicas }).values.DUET_REPLICA_URLS, [
    'postgres://one/duet',
    'postgresql://two/duet',
  ])
  assert.match(faultsOf(replicas)[0] ?? '', /^DUET_REPLICA_URLS is for PostgreSQL/)
})

test('a store may name several servers of which one takes writes, and have its replicas found', () => {
  const url = 'postgres://duet@one:5432,two:5432/duet?target_session_attrs=read-write'
  const auto = { DUET_DATABASE_URL: url, DUET_REPLICA_URLS: 'auto' }
  const patroni = { DUET_PATRONI_URLS: 'http://one:8008, http://two:8008' }
  const { store, values } = loadConfig({ ...auto, ...patroni })
  assert.deepEqual(store, { kind: 'postgres', url })
  assert.equal(values.DUET_REPLICA_URLS, 'auto')
  assert.deepEqual(values.DUET_PATRONI_URLS, ['http://one:8008', 'http://two:8008'])
  assert.match(
    faultsOf({ DUET_DATABASE_URL: url, ...patroni })[0] ?? '',
    /needs DUET_REPLICA_URLS=auto/,
  )
  const standby = { DUET_DATABASE_URL: url.replace('read-write', 'standby') }
  assert.match(faultsOf(standby)[0] ?? '', /must have target_session_attrs=read-write, or none/)
  const one = 'postgres://duet@three/duet?target_session_attrs=standby'
  const replica = { DUET_DATABASE_URL: url, DUET_REPLICA_URLS: one }
  assert.deepEqual(loadConfig(replica).values.DUET_REPLICA_URLS, [one])
  // The driver would take it for none, and send all in plain text.
  for (const PGSSLMODE of ['requrie', 'allow', 'Require'])
    assert.match(
      faultsOf({ DUET_DATABASE_URL: url, PGSSLMODE })[0] ?? '',
      /^PGSSLMODE needs disable, .* for the parameter sslmode$/,
    )
  for (const PGSSLMODE of ['', 'require'])
    assert.ok(loadConfig({ DUET_DATABASE_URL: url, PGSSLMODE }))
  assert.ok(loadConfig({ DUET_DATABASE_URL: 'sqlite:a.db', PGSSLMODE: 'requrie' }))
})

test('a version ends six months after its deprecation at the soonest, and not without one', () => {
  const days = (DUET_V1_DEPRECATED: string, DUET_V1_SUNSET: string) =>
    faultsOf({ DUET_V1_DEPRECATED, DUET_V1_SUNSET })
  for (const [from, soonest, tooSoon] of [
    ['2027-01-01', '2027-07-01', '2027-06-30'],
    ['2027-08-31', '2028-02-29', '2028-02-28'],
    ['2026-08-31', '2027-02-28', '2027-02-27'],
    ['2028-02-29', '2028-08-29', '2028-08-28'],
    ['2027-01-01', '2027-07-01', '2026-01-01'],
  ] as const) {
    assert.deepEqual(days(from, soonest), [])
    assert.deepEqual(days(from, tooSoon), [
      `DUET_V1_SUNSET is less than 6 months after DUET_V1_DEPRECATED: set it to ${soonest} or a later day`,
    ])
  }
  assert.deepEqual(days('2027-01-01', ''), [])
  assert.deepEqual(days('', '2027-08-01'), [
    'DUET_V1_SUNSET needs DUET_V1_DEPRECATED: set it to a day 6 months or more before, from which callers are told',
  ])
  assert.equal(days('never', '2027-08-01').length, 1)
})

test('every limit takes its least and its largest value [F4]', () => {
  const ends: readonly (readonly [string, string, string])[] = [
    ['DUET_MAX_DEPTH', '1', '100'],
    ['DUET_WRITE_QUEUE', '1', '100000'],
    ['DUET_WRITE_WAIT', '100ms', '10m'],
    ['DUET_SHUTDOWN_TIMEOUT', '0', '600000'],
    ['DUET_PORT', '0', '65535'],
  ]
  for (const [name, least, largest] of ends)
    for (const value of [least, largest]) assert.deepEqual(faultsOf({ [name]: value }), [])
})
