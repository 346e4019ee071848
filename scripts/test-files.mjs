// Which test files each command runs, and on which engine; `npm test` is the smaller part that is worth its time after each change.
import { globSync } from 'node:fs'
import { runsOnPostgres } from './test-engines.mjs'

/** `{,content/}test` are the tests of the machine and those of the content, in folders of the same names. */
const usual = {
  sqlite: [
    '{src,kit}/**/*',
    'content/*',
    'content/!(test)/**/*',
    'test/{architecture,docs,engines,watched}',
    'content/test/{content-words,error-texts,settings,specification}',
    '{,content/}test/{contract,differences,fuzz,generated,generic,http,model,openapi,read}/**/*',
    '{,content/}test/pages/{assets,pages,served}',
    'test/pages/{admin-crawl,browser}',
    'test/store/{connection,differences,draft,group-commit,kept,lane-threads,lanes,metrics,notices,outbox,used-indexes}',
    'content/test/store/{clock,migrate,migration-safety,money,observed,orders-model,race}',
    'test/cli/{formulas,heads,import-ids,pipelining,store}',
    'content/test/cli/{backups,currency,import,import-orders,log,seed}',
    'content/test/postgres/traps',
    'test/postgres/{sessions,slow-commits}',
  ],
  // One of each kind: what differs between the engines is in their dialects, and most of it shows in any request.
  postgres: [
    'content/test/contract/{connections,graphql-mutations,keys,orders,rest-updates,steps}',
    'test/generated/both-apis',
  ],
}

/** What only `npm run test:all` has of them: programs of others, whose subject other files of the same folder have too. */
const costly = ['content/test/differences/files', 'content/test/openapi/types']

const nightly = ['{,content/}test/nightly/**/*']

const all = ['{src,kit,content,test}/**/*']

/** The files of these patterns, with `/` in their names on each platform. */
export const filesOf = (patterns, exclude = []) =>
  globSync(patterns, { exclude }).map(file => file.replaceAll('\\', '/'))

const testsIn = (patterns, exclude = []) =>
  filesOf(
    patterns.map(pattern => `${pattern}.test.ts`),
    exclude.map(pattern => `${pattern}.test.ts`),
  )

/** The test files of each command, by engine. */
export const suites = {
  test: () => ({ sqlite: testsIn(usual.sqlite, costly), postgres: testsIn(usual.postgres) }),
  'test:all': () => {
    const files = testsIn(all, nightly)
    return { sqlite: files, postgres: files.filter(runsOnPostgres) }
  },
  'test:nightly': () => ({ sqlite: testsIn(nightly), postgres: [] }),
}
