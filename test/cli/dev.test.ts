/** `duet dev` as a process: it starts again with each change, loses no request, tells what is wrong, and offers migrations. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { callDuet } from '../commands.ts'
import { duet, folderOf, patient, plain, program, type Settings, start } from '../duet.ts'
import { projectIn } from '../support/project.ts'
import { until } from '../support/wait.ts'

const { folder, freshStore } = folderOf('dev')

/** The text of a file of a project, and a change of it. */
const filesOf = (project: string) => ({
  read: (name: string) => readFileSync(join(project, name), 'utf8'),
  change: (name: string, from: string | RegExp, to: string) => {
    const text = readFileSync(join(project, name), 'utf8')
    const changed = text.replace(from, to)
    assert.notEqual(changed, text, `${name} has ${from}`)
    writeFileSync(join(project, name), changed)
  },
})

const urlIn = (text: string) => /listens on (http:\S+)/.exec(text)?.[1]

/** Starts it for a project of an example; resolves with the first of what it tells. */
const developed = async (name: string, ...options: readonly string[]) => {
  const { project, config } = await projectIn(folder, 'empty', name)
  const { settings } = await freshStore({ bare: true })
  const running = start(['dev', ...config, ...options], { ...patient, ...settings })
  const { stderr, child, closed } = running
  const told = (what: string | RegExp) =>
    until(`it tells ${what}`, () => stderr().search(what) >= 0)
  return {
    ...filesOf(project),
    project,
    config,
    settings,
    stderr,
    told,
    end: async () => {
      child.kill('SIGTERM')
      await closed
      return child.exitCode
    },
  }
}

const startPage = async (url: string) =>
  (await fetch(url, { headers: { Accept: 'text/html' } })).text()

/** Waits until the start page tells a fault: the service is told it while the terminal is. */
const shows = (url: string, what: RegExp) =>
  until(`the start page tells ${what}`, async () => what.test(await startPage(url)))

describe('a service of duet dev', () => {
  let dev: Awaited<ReturnType<typeof developed>>
  let url = ''
  before(async () => {
    dev = await developed('notes')
    await dev.told(/listens on/)
    url = urlIn(dev.stderr()) as string
  })
  after(async () => assert.equal(await dev.end(), 0))

  test('starts again with each change, and every request meanwhile is answered', async () => {
    let isOver = false
    const statuses: number[] = []
    const asking = Array.from({ length: 2 }, async () => {
      while (!isOver) {
        statuses.push((await fetch(`${url}/api/notes`)).status)
        await sleep(20)
      }
    })
    const written: number[] = []
    for (const [round, most] of [900, 800].entries()) {
      dev.change('entities/note.ts', /max: \d+/, `max: ${most}`)
      const body = JSON.stringify({ text: `round ${round}` })
      const headers = { 'Content-Type': 'application/json' }
      written.push((await fetch(`${url}/api/notes`, { method: 'POST', headers, body })).status)
      await until(`a text of ${most} is the longest`, async () =>
        (await (await fetch(`${url}/api/openapi.json`)).text()).includes(`"maxLength":${most}`),
      )
    }
    isOver = true
    await Promise.all(asking)
    assert.deepEqual(written, [201, 201])
    assert.deepEqual([...new Set(statuses)], [200])
    const { data } = (await (await fetch(`${url}/api/notes`)).json()) as { data: object[] }
    assert.equal(data.length, 2)
  })

  const faults: readonly (readonly [what: string, from: string, to: string, sentence: RegExp])[] = [
    ['a line that is no TypeScript', 'fields: {', 'fields: [{', /note\.ts:\d+ /],
    [
      'a fault of the model',
      'policy: { read: anyone',
      "indexes: [['size']] as never,\n  policy: { read: anyone",
      /the model is wrong: in note, the index of size names size, which is not a field/,
    ],
    [
      'a field that rows cannot get',
      'createdAt: created(),',
      'createdAt: created(),\n    size: int({ min: 0, max: 9 }),',
      /note\.size cannot be added to rows that exist, which would have no value: make it nullable, or give it an initial value/,
    ],
  ]
  for (const [what, from, to, sentence] of faults)
    test(`${what} is told in the terminal and on the start page, and the last good one serves`, async () => {
      if (what.startsWith('a field'))
        dev.change('entities/note.ts', 'entity, text', 'entity, int, text')
      dev.change('entities/note.ts', from, to)
      await dev.told(sentence)
      await shows(url, sentence)
      assert.match(await startPage(url), /<h2>The last change is not served<\/h2>/)
      assert.equal((await fetch(`${url}/api/notes`)).status, 200)
      dev.change('entities/note.ts', to, from)
      await until(
        'the start page has no fault',
        async () => !(await startPage(url)).includes('The last change is not served'),
      )
    })

  test('a folder that is moved and one that comes in its place are changes, and that is watched too', async () => {
    const [here, away] = ['entities', 'away'].map(name => join(dev.project, name)) as [
      string,
      string,
    ]
    renameSync(here, away)
    await dev.told(/Cannot find module/)
    cpSync(away, here, { recursive: true })
    rmSync(away, { recursive: true })
    await until(
      'the start page has no fault',
      async () => !(await startPage(url)).includes('The last change is not served'),
    )
    dev.change('entities/note.ts', /max: \d+/, 'max: 650')
    await until('a text of 650 is the longest', async () =>
      (await (await fetch(`${url}/api/openapi.json`)).text()).includes('"maxLength":650'),
    )
  })

  test('a missing migration is told with the command that writes it, which is applied then', async () => {
    dev.change(
      'entities/note.ts',
      'createdAt: created(),',
      'createdAt: created(),\n    size: int({ min: 0, max: 9, nullable: true }),',
    )
    await dev.told(/alter table notes add column size/)
    await dev.told('Run: npx duet migrate --draft notes-size')
    await shows(url, /npx duet migrate --draft notes-size/)
    const before = (await (await fetch(`${url}/api/notes`)).json()) as { data: object[] }
    assert.ok(!('size' in (before.data[0] as object)))
    const drafted = await callDuet(['migrate', '--draft', 'notes-size', ...dev.config])
    assert.equal(drafted.code, 0, drafted.stderr)
    await until('it has the field', async () => {
      const { data } = (await (await fetch(`${url}/api/notes`)).json()) as { data: object[] }
      return 'size' in (data[0] as object)
    })
    assert.match(dev.stderr(), /applied 0002-notes-size/)
  })
})

test('what is at fault from the start is told to browsers and programs until it is gone', async () => {
  const dev = await developed('broken')
  const text = dev.read('duet.config.ts')
  writeFileSync(join(dev.project, 'duet.config.ts'), 'export const content = 1\n')
  // It may have begun with the right one.
  await dev.told(/exports no content/)
  const at = urlIn(dev.stderr())
  writeFileSync(join(dev.project, 'duet.config.ts'), text)
  await dev.told(at === undefined ? /listens on/ : /serves the change/)
  assert.equal(await dev.end(), 0)
})

test('a port without a service answers with the fault: 503 as a page and as a problem', async () => {
  const { project, config } = await projectIn(folder, 'empty', 'faulty')
  const { change } = filesOf(project)
  change('duet.config.ts', 'export default', 'export const content =')
  const free = createServer().listen(0, '127.0.0.1')
  await until('a port is free', () => free.listening)
  const { port } = free.address() as { port: number }
  const settings: Settings = { ...patient, ...(await freshStore({ bare: true })).settings }
  const taken = await duet(['dev', ...config], { ...settings, DUET_PORT: String(port) })
  assert.deepEqual(
    [taken.code, taken.stderr],
    [1, `duet: port ${port} is in use already; set DUET_PORT to another, or to 0 for a free one\n`],
  )
  free.close()
  const { child, stderr, closed } = start(['dev', ...config], {
    ...settings,
    DUET_PORT: String(port),
  })
  await until('it tells the fault', () => stderr().includes('exports no content'))
  const url = `http://127.0.0.1:${port}`
  const answer = await fetch(`${url}/api/notes`)
  assert.equal(answer.status, 503)
  assert.equal(answer.headers.get('content-type'), 'application/problem+json')
  assert.match(
    ((await answer.json()) as { detail: string }).detail,
    /exports no content: let it say/,
  )
  assert.match(await startPage(url), /<pre role="alert">\S*duet\.config\.ts exports no content/)
  change('duet.config.ts', 'export const content =', 'export default')
  await until('it is served', async () => (await fetch(`${url}/api/notes`)).status === 200)
  child.kill('SIGTERM')
  await closed
  assert.equal(child.exitCode, 0)
})

test('with --yes it writes migrations and applies them, and a rename is still a question', async () => {
  const dev = await developed('agreed', '--yes')
  await dev.told(/listens on/)
  const url = urlIn(dev.stderr()) as string
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ text: 'kept' })
  assert.equal((await fetch(`${url}/api/notes`, { method: 'POST', headers, body })).status, 201)
  dev.change(
    'entities/note.ts',
    'createdAt: created(),',
    "createdAt: created(),\n    by: text({ max: 9, initial: { value: 'me' } }),",
  )
  await dev.told(/wrote .*0002-notes-by\.sql/)
  await dev.told(/serves the change/)
  const [note] = ((await (await fetch(`${url}/api/notes`)).json()) as { data: { by: string }[] })
    .data
  assert.equal(note?.by, 'me')
  for (const engine of ['sqlite', 'postgres'])
    assert.deepEqual(readdirSync(join(dev.project, 'migrations', engine)), [
      '0001-empty.sql',
      '0002-notes-by.sql',
    ])
  dev.change('entities/note.ts', ' by: text', ' author: text')
  await dev.told(/is note\.author the column by by another name\? Then give it renamed: 'by'/)
  assert.equal((await fetch(`${url}/api/notes`)).status, 200)
  assert.equal(await dev.end(), 0)
})

const noTerminal =
  spawnSync('script', ['--version']).status !== 0 && 'NOT TESTED: no program script'

test('in a terminal it asks before it writes, and about renames', {
  skip: noTerminal,
}, async () => {
  const { project, config } = await projectIn(folder, 'empty', 'asked')
  const { change } = filesOf(project)
  const { settings } = await freshStore({ bare: true })
  const command = [process.execPath, program, 'dev', ...config].join(' ')
  const terminal = spawn('script', ['-qfec', command, '/dev/null'], {
    env: { ...plain, ...patient, ...settings, TERM: 'dumb' },
  })
  let shown = ''
  terminal.stdout.setEncoding('utf8').on('data', text => {
    shown += text
  })
  const sees = (what: string | RegExp) =>
    until(
      () => `the terminal shows ${what}: ${shown}`,
      () => shown.search(what) >= 0,
    )
  await sees(/listens on/)
  const url = urlIn(shown) as string
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ text: 'kept' })
  assert.equal((await fetch(`${url}/api/notes`, { method: 'POST', headers, body })).status, 201)

  change(
    'entities/note.ts',
    'createdAt: created(),',
    'createdAt: created(),\n    size: text({ max: 9, nullable: true }),',
  )
  await sees('Write and apply it as notes-size\\?')
  terminal.stdin.write('n\n')
  // It shows what it has read: a change that came before would take the question back.
  await sees(/another name\] n/)

  change('entities/note.ts', ' size:', ' mood:')
  await sees('Write and apply it as notes-mood\\?')
  assert.equal(readdirSync(join(project, 'migrations/sqlite')).length, 1)
  terminal.stdin.write('Moods of notes\n')
  await sees(/wrote .*0002-moods-of-notes\.sql/)
  await sees(/serves the change/)

  // What is asked last counts: this question is for a change that goes away again.
  change('entities/note.ts', ' text: text', ' words: text')
  await sees('Is note.words what text was\\?')
  terminal.stdin.write('y\n')
  await sees('rename column text to words')
  terminal.stdin.write('\n')
  await sees(/wrote .*0003-notes-words\.sql/)
  await until('the note has the new name', async () => {
    const { data } = (await (await fetch(`${url}/api/notes`)).json()) as {
      data: { words?: string }[]
    }
    return data[0]?.words === 'kept'
  })
  terminal.stdin.write('\x03')
  await until('Ctrl-C ends it', () => terminal.exitCode !== null || terminal.signalCode !== null)
})

test('a migration that fails on the rows is told, and the last good service goes on', async () => {
  const dev = await developed('failing', '--yes')
  await dev.told(/listens on/)
  const url = urlIn(dev.stderr()) as string
  const headers = { 'Content-Type': 'application/json' }
  const say = (text: string) =>
    fetch(`${url}/api/notes`, { method: 'POST', headers, body: JSON.stringify({ text }) })
  for (const text of ['same', 'same']) assert.equal((await say(text)).status, 201)
  dev.change('entities/note.ts', 'max: 1000,', "max: 100, unique: 'CONFLICT',")
  await dev.told(/wrote .*0002-notes-\S+\.sql/)
  await dev.told(/the last good one goes on being served/)
  const fault = /textNfc of notes cannot be filled, as the notes 1 and 2 have/
  assert.match(dev.stderr(), fault)
  await shows(url, fault)
  assert.equal((await say('still')).status, 201)
  const { data } = (await (await fetch(`${url}/api/notes`)).json()) as { data: unknown[] }
  assert.ok(data.length >= 3)
  assert.equal(await dev.end(), 0)
})

test('it is for development only', async () => {
  const { config } = await projectIn(folder, 'empty', 'production')
  const { code, stderr } = await callDuet(['dev', ...config], { DUET_ENV: 'production' })
  assert.deepEqual(
    [code, stderr],
    [
      1,
      'duet: duet dev is for development, and DUET_ENV is production: start duet serve, or leave DUET_ENV out\n',
    ],
  )
})

test('duet serve refuses what the migrations do not make', async () => {
  const { project, config } = await projectIn(folder, 'empty', 'refused')
  filesOf(project).change(
    'entities/note.ts',
    'createdAt: created(),',
    'createdAt: created(),\n    size: text({ max: 9, nullable: true }),',
  )
  const { settings } = await freshStore({ bare: true })
  const { code, stderr } = await callDuet(['serve', '--migrate', ...config], {
    ...patient,
    ...settings,
  })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /note\.size is in the model, and no migration makes its column: run duet migrate --draft NAME/,
  )
})
