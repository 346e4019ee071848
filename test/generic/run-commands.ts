/** Runs several commands of a subject in one process, each with settings of its own: node run-commands.ts NAME JSON */
import { runCommand } from '#cli/run.ts'
import { subjects } from './contents.ts'

type Run = { readonly args: readonly string[]; readonly settings: Readonly<Record<string, string>> }

const [, , name, json = '[]'] = process.argv
const subject = subjects.find(subject => subject.name === name)
if (!subject) throw new Error(`there is no subject ${name}`)
for (const { args, settings } of JSON.parse(json) as readonly Run[]) {
  Object.assign(process.env, settings)
  await runCommand(async () => subject.content, args)
}
