/** docs/tutorial.md, as somebody types it: what it says to write is written, what it says to run is run, and answers what it shows. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { duet, folderOf, patient, plain } from '../duet.ts'
import { onPostgres } from '../stores.ts'
import { installed, root } from '../support/project.ts'
import { inTime, until } from '../support/wait.ts'

const { folder, freshStore } = folderOf('tutorial')
const database = 'postgres://duet:duet@localhost/library'

/** What the page has, in its order: files to write, commands to type, and what the last one prints. */
const partsOf = (text: string) =>
  [...text.matchAll(/```ts\n(.*?)```|```sh\n(.*?)```|^((?: {4}[^\n]*\n)+)|(Ctrl-C)/gms)].map(
    ({ index, 1: file, 2: commands, 3: shown, 4: ends }) => ({
      file,
      commands,
      shown: shown?.trim(),
      ends,
      // The last name before a file is where it belongs.
      path: [...text.slice(0, index).matchAll(/`([\w./]+\.ts)`/g)].at(-1)?.[1] ?? '',
    }),
  )

const running: ChildProcess[] = []
const endAll = async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const closed = once(child, 'close')
    // The shell and what it has become: one process.
    child.kill('SIGTERM')
    await inTime('the service ends', closed)
  }
}
after(endAll)

test('the tutorial is as it says, on PostgreSQL to its end, and so are the pages on routes by hand and tests', async () => {
  const { settings } = await freshStore({ bare: true })
  const databaseUrl = settings.DUET_DATABASE_URL ?? ''
  const bin = 'node_modules/.bin'
  const env = {
    ...plain,
    ...patient,
    PATH: `${bin}:${dirname(process.execPath)}:${plain.PATH}`,
  }
  let cwd = folder
  let printed = ''
  let told = ''
  /** Where the service listens that was begun last. */
  let url = ''

  const begin = async (command: string) => {
    told = ''
    const child = spawn('sh', ['-c', `exec ${bin}/duet ${command}`], { cwd, env })
    running.push(child)
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', text => {
        told += text
      })
    await until(
      () => `duet ${command} listens: ${told}`,
      () => {
        assert.equal(child.exitCode, null, told)
        url = /listens on (\S+)\s/.exec(told)?.[1] ?? ''
        return url !== ''
      },
    )
  }
  /** What the newest content alone has in its documents, by the command that brings it. */
  const served: Readonly<Record<string, string>> = {
    'npx duet migrate --draft': 'BookList',
    sed: 'lendBook',
  }
  const settled = async (script: string) => {
    const [, word] = Object.entries(served).find(([command]) => script.startsWith(command)) ?? []
    if (word === undefined) return
    await until(
      () => `the change is served: ${told}`,
      async () => (await (await fetch(`${url}/api/openapi.json`)).text()).includes(word),
    )
  }
  const shell = async (script: string) => {
    const typed = script.replaceAll('http://127.0.0.1:3000', url).replaceAll(database, databaseUrl)
    const { stdout } = await promisify(execFile)('sh', ['-ec', `npx() { "$@"; }\n${typed}`], {
      cwd,
      env,
    })
    printed = stdout
  }
  const commands: readonly (readonly [form: RegExp, run: (words: string) => Promise<void>])[] = [
    [
      /^npx --package=\S+ duet (.*)$/,
      async words => {
        const { code, stderr } = await inTime(words, promisedInit(words))
        assert.equal(code, 0, stderr)
      },
    ],
    [
      /^cd (.*)$/,
      async path => {
        cwd = join(cwd, path)
      },
    ],
    [/^npm install()$/, async () => installed(cwd)],
    [/^npm run (dev)$/, begin],
    [/^npm (?:start)()$/, () => begin('serve')],
  ]
  const promisedInit = (words: string) => {
    const [command = '', name = '', ...options] = words.split(' ')
    return duet([command, join(cwd, name), ...options])
  }

  const text = readFileSync(join(root, 'docs/tutorial.md'), 'utf8')
  const [first = '', last = ''] = text.split('## Take it to PostgreSQL')
  assert.ok(last.includes('npm start'))
  for (const part of partsOf(onPostgres ? first + last : first)) {
    if (part.file !== undefined) writeFileSync(join(cwd, part.path), part.file)
    else if (part.ends) await endAll()
    else if (part.shown !== undefined) assert.equal(printed.trim().split('\n').at(-1), part.shown)
    else {
      let rest = ''
      for (const line of (part.commands ?? '').trimEnd().split('\n')) {
        const known = commands.find(([form]) => form.test(line))
        if (known) {
          if (rest !== '') await shell(rest)
          rest = ''
          await known[1](known[0].exec(line)?.[1] ?? '')
        } else rest += `${line}\n`
      }
      if (rest === '') continue
      await shell(rest)
      await settled(rest)
    }
  }
  await endAll()
  if (onPostgres) return

  // The pages on routes by hand and on tests go on with this content.
  for (const page of ['routes', 'testing']) {
    const files = [
      ...readFileSync(join(root, `docs/${page}.md`), 'utf8').matchAll(
        /```ts\n\/\/ (\S+)\n(.*?)```/gs,
      ),
    ]
    assert.equal(files.length, 1, page)
    for (const [, name = '', file = ''] of files) writeFileSync(join(cwd, name), file)
  }
  const config = join(cwd, 'duet.config.ts')
  const [line] = /served: async [^`]+/.exec(readFileSync(join(root, 'docs/routes.md'), 'utf8')) ?? [
    '',
  ]
  const before = readFileSync(config, 'utf8')
  writeFileSync(config, before.replace('  viewers:', `  ${line},\n  viewers:`))
  const run = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, args, { cwd, env })
  // The checkout stands in for the package, and its source compiles by its own options.
  const options = ['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']
  await run(join(root, 'node_modules/typescript/bin/tsc'), '-p', cwd, ...options)
  await run('lend.test.ts')
  await begin('serve')
  const cards = [1, 2].map(async id => {
    const card = await fetch(`${url}/api/books/${id}/card`)
    return [card.status, card.ok && (await card.text())]
  })
  assert.deepEqual(await Promise.all(cards), [
    [200, 'The Moons of Jupiter\n'],
    [404, false],
  ])
  await endAll()
})
