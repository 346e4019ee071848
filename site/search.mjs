// Finds what people look for in the built site: each question has its page among the first three. It also refuses a foreign request.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import MiniSearch from 'minisearch'

const dist = fileURLToPath(new URL('dist/', import.meta.url))
const files = readdirSync(dist, { recursive: true, encoding: 'utf8' })
const file = files.find(name => name.includes('@localSearchIndexroot'))
const { default: index } = await import(pathToFileURL(dist + file).href)
// As the theme searches.
const search = MiniSearch.loadJSON(index, {
  fields: ['title', 'titles', 'text'],
  storeFields: ['title', 'titles'],
  searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } },
})
const wanted = {
  'how do I sign in': /auth/,
  upload: /files/,
  'rename a field': /migrations|changing-an-api/,
  'rate limit': /operations/,
}
let faults = 0
for (const [question, page] of Object.entries(wanted)) {
  const found = search
    .search(question)
    .slice(0, 3)
    .map(({ id }) => id)
  if (found.some(id => page.test(id))) continue
  faults++
  console.error(`${question}: ${found.join(', ')}`)
}
for (const name of files.filter(name => name.endsWith('.html'))) {
  const [foreign] =
    /<(?:script|link|img)\b[^>]*(?:src|href)="https?:[^"]*"/.exec(
      readFileSync(dist + name, 'utf8'),
    ) ?? []
  if (!foreign) continue
  faults++
  console.error(`${name}: ${foreign}`)
}
process.exitCode = faults === 0 ? 0 : 1
