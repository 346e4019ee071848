/** Checks that the files of deploy/ and docs/scaling.md agree with the code and with each other. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { serversIn } from '#base/database-url.ts'
import { settings } from '#settings.ts'
import { folderOf } from './duet.ts'
import { installed } from './support/guard.ts'
import { freePort } from './support/ports.ts'
import { at, parseYaml, type Yaml } from './yaml.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (name: string) => readFileSync(join(root, name), 'utf8')

const files = globSync('deploy/*', { cwd: root })
const dockerfile = read('deploy/Dockerfile')
const unit = read('deploy/duet@.service')
const [compose] = parseYaml(read('deploy/compose.yaml'))
const manifests = parseYaml(read('deploy/kubernetes.yaml'))

const manifest = (kind: string): Yaml => {
  const found = manifests.find(one => at(one, 'kind') === kind)
  assert.ok(found, kind)
  return found
}
for (const kind of ['Deployment', 'Job'])
  test(`the pods of the ${kind} get no variables of Services, which are no settings`, () => {
    assert.equal(at(manifest(kind), 'spec', 'template', 'spec', 'enableServiceLinks'), 'false')
  })

const container = at(manifest('Deployment'), 'spec', 'template', 'spec', 'containers', 0)

for (const name of [...files, 'docs/scaling.md', 'bench/capacity.md', 'bench/cluster.md'])
  test(`every setting that ${name} names is one`, () => {
    for (const [setting] of read(name).matchAll(/\bDUET_(?!TEST_|SEED\b)[A-Z_]+\b/g))
      assert.ok(setting in settings, setting)
  })

test('the Dockerfile copies what is there, and its builder is sent all of that', () => {
  const sent = read('deploy/Dockerfile.dockerignore')
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = '']) =>
    from.split(' '),
  )
  assert.ok(copied.length >= 8)
  for (const path of copied) {
    assert.ok(existsSync(join(root, path)), path)
    assert.ok(sent.includes(`\n!${path}\n`), `${path} is not sent`)
  }
})

test('the Dockerfile brings the scripts that the install, the build and bin/duet run', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const [, postinstall = ''] = /^node (\S+)$/.exec(scripts.postinstall) ?? []
  const started = [...read('bin/duet').matchAll(/\.\.\/(scripts\/[\w-]+\.mjs)/g)].map(([, x]) => x)
  const built = [...dockerfile.matchAll(/RUN node (\S+)/g)].map(([, x]) => x)
  assert.equal(started.length + built.length, 3)
  for (const script of [postinstall, ...started, ...built])
    assert.match(dockerfile, new RegExp(`${script} `))
})

test('each image has the libraries of the system that the pinned Node needs [A12]', {
  skip: process.platform !== 'linux' && 'NOT TESTED: the image is for Linux',
}, () => {
  const needs = spawnSync('ldd', [process.execPath], { encoding: 'utf8' }).stdout
  const more = [...needs.matchAll(/^\t(lib\S+)\.so/gm)]
    .map(([, name = '']) => name)
    // These are of packages that each Debian has: libc6, libgcc-s1 and libstdc++6.
    .filter(name => !/^lib(c|dl|m|pthread|rt|gcc_s|stdc\+\+)$/.test(name))
  assert.ok(more.length > 0)
  for (const stage of dockerfile.split(/^FROM /m).slice(1))
    for (const name of more) assert.match(stage, new RegExp(`apt-get install .*\\b${name}\\d`))
})

test('the image is of the version of the package, runs as nobody in particular, and has no secret', () => {
  const { version } = JSON.parse(read('package.json'))
  for (const name of ['Dockerfile', 'compose.yaml', 'kubernetes.yaml'])
    for (const [, tag] of read(`deploy/${name}`).matchAll(/\bduet:([\w.]+)$/gm))
      assert.equal(tag, version, name)
  assert.equal([...dockerfile.matchAll(/^USER (\d+):\d+$/gm)].at(-1)?.[1], '10001')
  assert.doesNotMatch(dockerfile, /SECRET|PASSWORD/)
  assert.equal(at(manifest('Secret'), 'stringData', 'DUET_AUTH_SECRET'), '')
})

test('every image of somebody else is pinned to a version', () => {
  const names = files.flatMap(name => [
    ...[...read(name).matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image),
    ...[...read(name).matchAll(/^\s+image: (\S+)$/gm)].map(([, image = '']) => image),
  ])
  assert.ok(names.length >= 8)
  for (const image of names) assert.match(image, /:\d+\.\d+(\.\d+)?(-[\w.-]+)?$/, image)
})

test('all ask on one port, for their life at /healthz and for readiness at /readyz [H11]', () => {
  const port = /DUET_PORT=(\d+)/.exec(dockerfile)?.[1]
  assert.match(dockerfile, new RegExp(`^EXPOSE ${port}$`, 'm'))
  assert.match(dockerfile, new RegExp(`http://127\\.0\\.0\\.1:${port}/healthz`))
  assert.equal(at(manifest('ConfigMap'), 'data', 'DUET_PORT'), port)
  assert.equal(at(container, 'ports', 0, 'containerPort'), port)
  assert.equal(at(manifest('Service'), 'spec', 'ports', 0, 'targetPort'), 'http')
  const environment = at(compose, 'services', 'haproxy', 'environment')
  assert.equal(at(environment, 'FIRST'), `duet-1:${port}`)
  assert.equal(at(environment, 'SECOND'), `duet-2:${port}`)
  for (const service of ['duet-1', 'duet-2']) assert.ok(at(compose, 'services', service))
  const paths = ['startupProbe', 'readinessProbe', 'livenessProbe'].map(probe =>
    at(container, probe, 'httpGet', 'path'),
  )
  assert.deepEqual(paths, ['/healthz', '/readyz', '/healthz'])
  const app = read('src/serve/app.ts')
  for (const path of ['/healthz', '/readyz']) assert.ok(app.includes(`'${path}'`), path)
})

test('the port for Prometheus is the one that the pods listen on', () => {
  const port = at(manifest('ConfigMap'), 'data', 'DUET_METRICS_PORT')
  assert.equal(at(container, 'ports', 1, 'name'), 'metrics')
  assert.equal(at(container, 'ports', 1, 'containerPort'), port)
  assert.ok(read('docs/operations.md').includes(`DUET_METRICS_PORT=${port}`))
})

test('each supervisor waits longer for the end than the service needs', () => {
  const own = Number(settings.DUET_SHUTDOWN_TIMEOUT.usual) / 1000 + 3
  const pod = at(manifest('Deployment'), 'spec', 'template', 'spec')
  const [, before] = at(container, 'lifecycle', 'preStop', 'exec', 'command') as string[]
  assert.ok(Number(at(pod, 'terminationGracePeriodSeconds')) > own + Number(before))
  assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) > own)
  for (const service of ['duet-1', 'duet-2'])
    assert.ok(
      Number.parseInt(String(at(compose, 'services', service, 'stop_grace_period')), 10) > own,
    )
})

test('a process may take as much memory everywhere as the operator is told to leave it', () => {
  const [, mebibytes] = /Leave a process (\d+) MiB/.exec(read('docs/operations.md')) ?? []
  assert.equal(at(container, 'resources', 'limits', 'memory'), `${mebibytes}Mi`)
  assert.equal(/^MemoryMax=(\w+)$/m.exec(unit)?.[1], `${mebibytes}M`)
  const processes = globSync('deploy/compose*.yaml', { cwd: root }).flatMap(name => {
    const [file] = parseYaml(read(name))
    return Object.entries(at(file, 'services') as Record<string, Yaml>).filter(([service]) =>
      /^duet(-\d)?$/.test(service),
    )
  })
  assert.equal(processes.length, 5)
  for (const [service, its] of processes)
    assert.equal(at(its, 'mem_limit'), `${mebibytes}m`, service)
})

test('everything that starts a service gives it the same settings of memory, as the docs list them', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const docs = read('docs/operations.md')
  const first = docs.slice(docs.indexOf('## The first day'), docs.indexOf('## Requirements'))
  const ofProjects = ['project/Dockerfile', 'deploy/systemd/service.unit']
  const places = [scripts.start, dockerfile, unit, first]
  places.push(...ofProjects.map(name => read(`examples/${name}`)))
  const settings = ['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'MALLOC_TRIM_THRESHOLD_']
  for (const name of settings) {
    const [, value] = new RegExp(`\\b${name}=(\\d+)`).exec(docs) ?? []
    assert.ok(value, name)
    for (const text of places)
      assert.match(text, new RegExp(`\\b${name}=(${value}\\b|\\$\\{${name}:-${value}\\})`))
  }
  const [young = ''] = /--max-semi-space-size=\d+/.exec(docs) ?? []
  for (const text of places) assert.ok(text.includes(young))
})

test('beside Litestream the store is of one user, its log is shared, and Duet ends first', () => {
  const [shared] = parseYaml(read('deploy/compose.litestream.yaml'))
  const [configuration] = parseYaml(read('deploy/litestream.yml'))
  const duet = at(shared, 'services', 'duet')
  const file = at(configuration, 'dbs', 0, 'path')
  assert.equal(at(duet, 'environment', 'DUET_DATABASE_URL'), `sqlite:${file}`)
  assert.equal(at(duet, 'environment', 'DUET_WAL'), 'shared')
  assert.ok(at(duet, 'depends_on', 'litestream'))
  const [, owner] = [...dockerfile.matchAll(/^USER (\S+)$/gm)].at(-1) ?? []
  for (const name of ['restore', 'litestream'])
    assert.equal(at(shared, 'services', name, 'user'), owner)
  assert.equal(at(shared, 'services', 'owner', 'entrypoint', 1), owner)
})

test('the cluster of compose names the same nodes to Patroni, to etcd and to the services, and is one subnet', () => {
  const [cluster] = parseYaml(read('deploy/compose-cluster.yaml'))
  const env = (service: string) => at(cluster, 'services', service, 'environment')
  for (const n of [1, 2, 3]) {
    assert.equal(at(env(`postgres-${n}`), 'PATRONI_NAME'), `postgres-${n}`)
    assert.equal(
      at(env(`postgres-${n}`), 'PATRONI_POSTGRESQL_CONNECT_ADDRESS'),
      `postgres-${n}:5432`,
    )
    const hosts = String(at(env(`postgres-${n}`), 'PATRONI_ETCD3_HOSTS'))
    assert.ok(hosts.includes(`'etcd-${n}:2379'`))
    assert.equal(at(env(`etcd-${n}`), 'ETCD_NAME'), `etcd-${n}`)
  }
  const subnet = at(cluster, 'networks', 'inside', 'ipam', 'config', 0, 'subnet')
  for (const service of ['duet-1', 'duet-2']) {
    assert.equal(at(env(service), 'DUET_TRUSTED_PROXIES'), subnet)
    const url = String(at(env(service), 'DUET_DATABASE_URL'))
    assert.deepEqual(
      serversIn(url).map(one => URL.parse(one)?.hostname),
      ['postgres-1', 'postgres-2', 'postgres-3'],
    )
    assert.match(url, /[?&]target_session_attrs=read-write(?:&|$)/)
  }
})

test('what selects the pods selects them', () => {
  const labels = at(manifest('Deployment'), 'spec', 'template', 'metadata', 'labels')
  for (const kind of ['Deployment', 'PodDisruptionBudget'])
    assert.deepEqual(at(manifest(kind), 'spec', 'selector', 'matchLabels'), labels)
  assert.deepEqual(at(manifest('Service'), 'spec', 'selector'), labels)
  assert.notDeepEqual(at(manifest('Job'), 'spec', 'template', 'metadata', 'labels'), labels)
})

const haproxy = installed('haproxy')

test('HAProxy takes haproxy.cfg, with its own addresses and with those of compose', {
  skip: haproxy === undefined && 'HAProxy is not installed: apt-get install haproxy',
}, () => {
  const names = at(compose, 'services', 'haproxy', 'environment') as Record<string, string>
  for (const env of [{}, names]) {
    const args = ['-c', '-f', join(root, 'deploy/haproxy.cfg')]
    const { status, stderr } = spawnSync(String(haproxy), args, {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...env },
    })
    assert.equal(status, 0, stderr)
  }
})

const analyze = installed('systemd-analyze')

test('systemd finds no fault with the units', {
  skip: analyze === undefined && 'systemd-analyze is not installed',
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'duet-unit-'))
  try {
    const files = {
      'duet@3001.service': unit,
      'duet@3001.socket': read('deploy/duet@.socket'),
      'duet-backup.service': read('deploy/duet-backup.service'),
      'duet-backup.timer': read('deploy/duet-backup.timer'),
    }
    const names = Object.keys(files).map(name => join(folder, name))
    // systemd checks that the programs exist, so the paths are those of this checkout.
    for (const [name, text] of Object.entries(files))
      writeFileSync(
        join(folder, name),
        text
          .replaceAll('/opt/duet/node_modules/.bin/node', process.execPath)
          .replaceAll('/opt/duet', root),
      )
    const { status, stderr } = spawnSync(String(analyze), ['verify', '--man=no', ...names], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    assert.doesNotMatch(stderr, /duet[@-]/)
    // A call that the filter refuses is an error for its thread, not the end of the service.
    assert.match(unit, /^SystemCallErrorNumber=EPERM$/m)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('before the first backup the unit of backups has none to check, and says nothing', () => {
  const [, line = ''] =
    /^ExecStartPre=-\/bin\/sh -c '(.+)'$/m.exec(read('deploy/duet-backup.service')) ?? []
  assert.match(line, /restore --check "\$newest" --files /)
  const here = line.replaceAll('/opt/duet/node_modules/.bin/node', process.execPath)
  const ran = spawnSync('sh', ['-c', here.replace('/var/lib/duet-backups', '/dev/null')], {
    cwd: root,
    encoding: 'utf8',
  })
  assert.deepEqual([ran.status, ran.stdout, ran.stderr], [0, '', ''])
})

test('systemd starts a service again however often its start fails, as while the database is away', () => {
  for (const text of [unit, read('examples/deploy/systemd/service.unit')]) {
    const [general = '', service] = text.split('[Service]')
    assert.match(general, /^StartLimitIntervalSec=0$/m)
    assert.match(service ?? '', /^Restart=always$/m)
  }
})

const activate = installed('systemd-socket-activate')

test('a service that systemd starts by its socket answers the connection that started it', {
  skip: activate === undefined && 'systemd-socket-activate is not installed',
}, async () => {
  const port = await freePort()
  const { settings } = folderOf('activated').fresh()
  const env = Object.entries({ ...settings, DUET_LOG: 'silent' })
  const args = [
    '-l',
    `127.0.0.1:${port}`,
    ...env.flatMap(([name, value]) => ['-E', `${name}=${value}`]),
  ]
  const child = spawn(String(activate), [...args, process.execPath, 'bin/duet', 'serve'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    await once(child.stderr, 'data') // it listens
    const response = await fetch(`http://127.0.0.1:${port}/readyz`)
    assert.equal(response.status, 200)
  } finally {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
})
