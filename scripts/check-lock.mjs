// Checks that package-lock.json installs the same everywhere: npm can silently write one with gaps,
// and `npm ci` then fails.
import { readFileSync } from 'node:fs'

const read = name => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'))
const manifest = read('package.json')
const { packages } = read('package-lock.json')

const sections = ['dependencies', 'devDependencies', 'optionalDependencies']
const remedy =
  'remove the package from package.json and `npm install` it again, or pin a version that is whole'

const faults = [...missing(), ...unlike(), ...unpinned(), ...open()]
for (const fault of faults) console.error(`package-lock.json: ${fault}`)
if (faults.length === 0)
  console.log(`package-lock.json: complete, ${Object.keys(packages).length - 1} packages`)
process.exitCode = faults.length === 0 ? 0 : 1

// A platform's package that the registry did not have when the lock was written.
function missing() {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter(name => !isFound(path, name))
      .map(name => `${path || 'the project'} needs ${name}, which is not in it: ${remedy}`),
  )
}

// Where Node would look: in the node_modules of the package itself, then of each folder above.
function isFound(path, name) {
  if (`${path ? `${path}/` : ''}node_modules/${name}` in packages) return true
  return (
    path !== '' && isFound(path.slice(0, Math.max(0, path.lastIndexOf('node_modules/') - 1)), name)
  )
}

function unlike() {
  return sections
    .filter(section => !same(manifest[section], packages[''][section]))
    .map(section => `its ${section} are not those of package.json: run npm install`)
}

function same(one = {}, other = {}) {
  return JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort())
}

function unpinned() {
  return sections
    .flatMap(section => Object.entries(manifest[section] ?? {}))
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => `${name} is asked for as ${version}: pin one version in package.json`)
}

function open() {
  return Object.entries(packages).flatMap(([path, found]) => {
    if (path === '') return []
    return [
      found.integrity || found.link ? [] : `${path} has no integrity hash: ${remedy}`,
      found.resolved
        ? `${path} names a registry: npm install writes none with the project's .npmrc`
        : [],
      found.hasInstallScript && manifest.allowScripts?.[nameOf(path)] === undefined
        ? `${path} has an install script: decide on it in package.json's allowScripts`
        : [],
    ].flat()
  })
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
