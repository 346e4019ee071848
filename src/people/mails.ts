/** The mails of sign-in, in English and German. */
import type { People } from '#model/people.ts'
import type { Message } from '#model/services.ts'
import type { Mail } from '#people/messages.ts'
import type { PeopleSettings } from '#people/settings.ts'

type MailFacts = { readonly title: string; readonly code: string; readonly link: string }
type MailWords = Record<
  Mail['kind'],
  (letter: MailFacts) => readonly [subject: string, text: string]
>

const words: Readonly<Record<Mail['language'], MailWords>> = {
  en: {
    code: ({ title, code }) => [
      `${code} is your code`,
      `Your code for ${title} is\n\n${code}\n\nIt holds for ten minutes. Give it to nobody: we never ask for it. If you did not ask for a code, do nothing.`,
    ],
    reset: ({ title, link }) => [
      'Set your password',
      `Set your password for ${title} here, within ten minutes:\n\n${link}\n\nIf you did not ask for this, do nothing.`,
    ],
    moved: ({ title }) => [
      'Your address was changed',
      `You sign in to ${title} with another address now. If that was not you, tell its operator at once.`,
    ],
  },
  de: {
    code: ({ title, code }) => [
      `${code} ist Ihr Code`,
      `Ihr Code für ${title} ist\n\n${code}\n\nEr gilt zehn Minuten. Geben Sie ihn niemandem: Wir fragen nie danach. Wenn Sie keinen Code wollten, brauchen Sie nichts zu tun.`,
    ],
    reset: ({ title, link }) => [
      'Passwort festlegen',
      `Legen Sie hier innerhalb von zehn Minuten Ihr Passwort für ${title} fest:\n\n${link}\n\nWenn Sie das nicht wollten, brauchen Sie nichts zu tun.`,
    ],
    moved: ({ title }) => [
      'Ihre Adresse wurde geändert',
      `Sie melden sich bei ${title} jetzt mit einer anderen Adresse an. Wenn Sie das nicht waren, sagen Sie es gleich dem Betreiber.`,
    ],
  },
}

/** The message of a mail, as the content has it or in our words; a link carries its token behind #, which no server sees. */
export const messageOf = (
  mail: Mail,
  { title, url }: Pick<PeopleSettings, 'title' | 'url'>,
  own: People['mails'],
): Message => {
  const { kind, language, to } = mail
  const code = mail.kind === 'code' ? mail.code : ''
  const link = mail.kind === 'reset' ? `${url}/signin#reset=${mail.token}` : `${url}/signin`
  const [subject, text] = words[language][kind]({ title, code, link })
  const escaped = text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`)
  return {
    subject,
    text: `${text}\n`,
    html: escaped.replace(/^.+$/gm, '<p>$&</p>').replaceAll('\n\n', '\n'),
    ...own?.({ kind, language, title, code, link }),
    to: { name: '', address: to },
  }
}
