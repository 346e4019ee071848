// Makes the admin's page: one script and one style sheet of admin/, with the licences of what is in them. `node scripts/admin.mjs`.
import { globSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = name => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** Writes the files to `src/pages/assets/`; throws a plain error if esbuild is missing or refuses the source. */
export async function buildAdmin() {
  const { build } = await import('esbuild').catch(() => {
    throw new Error('esbuild is not installed')
  })
  await build({
    entryPoints: ['main.tsx', 'admin.css'].map(name => ({
      in: here(`admin/${name}`),
      out: 'admin',
    })),
    outdir: here('src/pages/assets'),
    tsconfig: here('admin/tsconfig.json'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2024',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'linked',
    logLevel: 'silent',
  })
}

/** Writes them unless they are newer than all of `admin/`. */
export async function buildChangedAdmin() {
  const madeAt =
    statSync(here('src/pages/assets/admin.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const files = globSync('**/*.{ts,tsx,css}', { cwd: here('admin') })
  if (files.some(name => statSync(here(`admin/${name}`)).mtimeMs > madeAt)) await buildAdmin()
}

if (import.meta.main) await buildAdmin()
