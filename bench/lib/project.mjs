/** The service in a project of the installed package beside the service of this checkout: the same requests of the same rows, in turns. */
import { copyFileSync, cpSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from '../../scripts/build.mjs'
import { workloads } from '../workloads.mjs'
import { prepare } from './dataset.mjs'
import { duetAt, patient } from './duet.mjs'
import { inFolder } from './on-copy.mjs'
import { inTurns } from './turns.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const reads = ['user', 'product', 'products', 'graphql-user', 'graphql-tree']
export const names = reads.filter(name => workloads.some(one => one.name === name))

/** The package in the node_modules of a project that has this content; gives the options that name it, and its program. */
function installed(folder) {
  const project = join(folder, 'project')
  const packages = join(project, 'node_modules')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  // Compiled outside, since the compiler leaves out what is in node_modules.
  build(join(folder, 'dist'))
  mkdirSync(packages, { recursive: true })
  renameSync(join(folder, 'dist'), join(packages, 'duet'))
  cpSync(join(root, 'content'), project, {
    recursive: true,
    filter: path => path !== join(root, 'content/test'),
  })
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n')
  const config = ['--config', join(project, 'duet.config.ts')]
  return { bin: join(packages, 'duet/bin/duet'), config }
}

/** Prints the processor time of each read in a project through that in the service: the median of the rounds' ratios and their quartiles. */
export async function benchProject(options, { duet, log }) {
  const { files, facts } = await prepare(duet, options)
  await inFolder(async folder => {
    const { bin, config } = installed(folder)
    const sides = { service: [duet, []], project: [duetAt(bin), config] }
    const served = []
    for (const [name, [side, args]] of Object.entries(sides)) {
      const store = join(folder, `${name}.db`)
      copyFileSync(files.all, store)
      const settings = { ...patient, DUET_CACHE: '0', DUET_RATE_LIMIT: '100000000' }
      const server = await side.serve(store, log(name), settings, args)
      served.push({ name, server, token: await side.token(store, 'user', args) })
    }
    const found = {}
    for (const { name, title, ask } of workloads.filter(one => names.includes(one.name))) {
      if (options.only.length > 0 && !options.only.includes(name)) continue
      const asked = { reads: [ask(facts)], writes: [], every: 0 }
      const { service, project } = await inTurns(asked, served, { ...options, folder })
      const ratios = project.times.map((time, at) => time / service.times[at])
      ratios.sort((one, other) => one - other)
      const [low, middle, high] = [0.25, 0.5, 0.75].map(part =>
        ratios[Math.floor(part * (ratios.length - 1))].toFixed(3),
      )
      found[name] = { ratios, service: service.median, project: project.median }
      console.log(
        `${title.padEnd(50)}${service.median.toFixed(1)} µs, in a project ${project.median.toFixed(1)} µs: ${middle} × (${low} to ${high})`,
      )
    }
    for (const { server } of served) await server.stop()
    if (options.json) writeFileSync(options.json, `${JSON.stringify(found, null, 2)}\n`)
  })
}
