/** The mails of sign-in, in English and German. */

import type { People } from '#model/people.ts'
import type { Message } from '#model/services.ts'
import type { Mail } from '#people/messages.ts'

/** What mails say of the service: its name, and where people reach it. */
export type MailSite = { readonly title: string; readonly url: string }

const words = {
  en: {
    code: (code: string) => `${code} is your code`,
    codeText: (code: string, title: string) =>
      `Your code for ${title} is\n\n${code}\n\nIt holds for ten minutes. Give it to nobody: we never ask for it. If you did not ask for a code, do nothing.`,
    reset: 'Set your password',
    resetText: (link: string, title: string) =>
      `Set your password for ${title} here, within ten minutes:\n\n${link}\n\nIf you did not ask for this, do nothing.`,
    moved: 'Your address was changed',
    movedText: (title: string) =>
      `You sign in to ${title} with another address now. If that was not you, tell its operator at once.`,
  },
  de: {
    code: (code: string) => `${code} ist Ihr Code`,
    codeText: (code: string, title: string) =>
      `Ihr Code für ${title} ist\n\n${code}\n\nEr gilt zehn Minuten. Geben Sie ihn niemandem: Wir fragen nie danach. Wenn Sie keinen Code wollten, brauchen Sie nichts zu tun.`,
    reset: 'Passwort festlegen',
    resetText: (link: string, title: string) =>
      `Legen Sie hier innerhalb von zehn Minuten Ihr Passwort für ${title} fest:\n\n${link}\n\nWenn Sie das nicht wollten, brauchen Sie nichts zu tun.`,
    moved: 'Ihre Adresse wurde geändert',
    movedText: (title: string) =>
      `Sie melden sich bei ${title} jetzt mit einer anderen Adresse an. Wenn Sie das nicht waren, sagen Sie es gleich dem Betreiber.`,
  },
} as const

/** The message of a mail, as the content has it or in our words; a link carries its token behind #, which no server sees. */
export const messageOf = (mail: Mail, site: MailSite, own: People['mails']): Message => {
  const { kind, language, to } = mail
  const { title, url } = site
  const said = words[language]
  const code = mail.kind === 'code' ? mail.code : ''
  const link = mail.kind === 'reset' ? `${url}/signin#reset=${mail.token}` : `${url}/signin`
  const letter = own?.({ kind, language, title, code, link })
  const ours = {
    code: [said.code(code), said.codeText(code, title)],
    reset: [said.reset, said.resetText(link, title)],
    moved: [said.moved, said.movedText(title)],
  } as const
  const [subject, text] = ours[kind]
  const escaped = text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`)
  const paragraphs = escaped.split('\n\n').map(part => `<p>${part}</p>`)
  return {
    subject,
    text: `${text}\n`,
    html: paragraphs.join('\n'),
    ...letter,
    to: { name: '', address: to },
  }
}
