/** The content of this service: what it is about, and who may do what. */
import { defineContent, defineModel } from 'duet'
import { note } from './entities/note.ts'

export default defineContent({
  entities: defineModel({ note }),
  migrations: new URL('./migrations/', import.meta.url),
})
