// Lints the OpenAPI documents of every version, of the content and of the tests' second one, and that of sign-in.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import content from '../content/duet.config.ts'
import { printed } from '../src/cli/documents.ts'
import { openApiOf } from '../src/openapi/openapi.ts'
import { authDocument } from '../src/openapi/people.ts'
import { library } from '../test/support/library/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'duet-openapi-'))
const files = []
for (const [name, linted] of Object.entries({ content, library }))
  for (const version of linted.versions.all) {
    const file = join(folder, `${name}-v${version}.json`)
    writeFileSync(file, printed(await openApiOf(linted, version)))
    files.push(file)
  }
const ofSignIn = join(folder, 'sign-in.json')
writeFileSync(ofSignIn, printed(authDocument(content)))
files.push(ofSignIn)

const linter = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'))
const { status } = spawnSync(
  process.execPath,
  [linter, 'lint', '--extends', 'recommended-strict', ...files],
  {
    stdio: 'inherit',
    // It would call its makers.
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  },
)
rmSync(folder, { recursive: true })
process.exitCode = status ?? 1
