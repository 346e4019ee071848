/** The package as its users install it, by npm from its registry: a project is made, installed, started and asked under each Node. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { plain } from '../duet.ts'
import { pinned } from '../support/checkouts.ts'
import { packed } from '../support/package.ts'
import { inTime, until } from '../support/wait.ts'

const tarball = await packed()
const nodeName = pinned.packages[`${process.platform}-${process.arch}`] ?? assert.fail('no Node')

/** What commands may take, beside the downloads, in seconds. */
const mostSeconds = 60

/** The most that is installed where no Node comes along, in bytes. */
const mostInstalled = 90_000_000

const bytesIn = (folder: string): number =>
  globSync('**/*', { cwd: folder })
    .map(file => statSync(join(folder, file)))
    .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0)

for (const major of [20, 24, 26])
  test(`a blog is made, installed, started, asked and signed in to under Node ${major}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'duet-node-'))
    // Its npm and its programs run under that Node, and none of this checkout.
    const path = (plain.PATH ?? '').split(':').filter(part => !part.includes('node_modules'))
    const env = { ...plain, PATH: [join(folder, 'bin'), ...path].join(':'), DUET_PORT: '0' }
    const timed = { seconds: 0 }
    const run = (cwd: string, program: string, ...args: readonly string[]) => {
      const begun = performance.now()
      const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: 'utf8' })
      if (args[0] !== 'install') timed.seconds += (performance.now() - begun) / 1000
      assert.equal(status, 0, `${program} ${args.join(' ')}\n${stdout}${stderr}`)
      return stdout
    }
    mkdirSync(join(folder, 'bin'))
    run(folder, 'npm', 'install', '--prefix', join(folder, 'node'), `${nodeName}@${major}`)
    run(folder, 'ln', '-s', join(folder, 'node/node_modules', nodeName, 'bin/node'), 'bin/node')
    assert.match(run(folder, 'node', '--version'), new RegExp(`^v${major}\\.`))

    run(folder, 'npx', '--yes', `--package=${tarball}`, 'duet', 'init', 'blog')
    const blog = join(folder, 'blog')
    run(blog, 'npm', 'install', '--no-audit')
    if (major >= 24) {
      const size = bytesIn(join(blog, 'node_modules'))
      assert.ok(size < mostInstalled, `${size} bytes are installed`)
    }

    const service = spawn('npm', ['start'], { cwd: blog, env, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    service.stderr.setEncoding('utf8').on('data', text => {
      said += text
    })
    const closed = new Promise(resolve => service.once('close', resolve))
    const begun = performance.now()
    await until('the service listens', () => /listens on \S+/.test(said))
    const url = /listens on (\S+)/.exec(said)?.[1]
    assert.match(run(blog, 'curl', '-sf', `${url}/api/posts`), /^{"data":\[{"id":1,/)
    const query = '{"query":"{ posts { title } }"}'
    const json = ['-H', 'Content-Type: application/json', '-d', query]
    assert.match(
      run(blog, 'curl', '-sf', `${url}/graphql`, ...json),
      /^{"data":{"posts":\[{"title":/,
    )
    const [, token] = /#link=(\S+)/.exec(said) ?? []
    const link = ['-H', 'Content-Type: application/json', '-d', JSON.stringify({ token })]
    assert.match(run(blog, 'curl', '-sf', `${url}/auth/sign-in/link`, ...link), /"role":"editor"/)
    service.kill('SIGTERM')
    await inTime('npm start ends', closed)
    timed.seconds += (performance.now() - begun) / 1000

    assert.match(run(blog, 'npm', 'test', '--', '--seconds', '8'), /\nall is well/)
    assert.ok(timed.seconds < mostSeconds, `the commands took ${timed.seconds} s`)
  })
