// Copies docs/ beside the generator, whose packages its pages load.
import { cpSync, rmSync } from 'node:fs'

const pages = new URL('pages/', import.meta.url)
rmSync(pages, { recursive: true, force: true })
cpSync(new URL('../docs/', import.meta.url), pages, { recursive: true })
