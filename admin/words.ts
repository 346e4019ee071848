/** What the page says, in the language of the browser: English, or German where there are words for it. */

const german: Record<string, string> = {
  'Everybody with the role {role}': 'Alle mit der Rolle {role}',
  'I alone': 'Nur ich',
  'Who sees it': 'Wer sie sieht',
  'Importing…': 'Wird importiert…',
  'It cannot be shown': 'Es kann nicht gezeigt werden',
  'Its address may be wrong; if not, tell who runs this service.':
    'Vielleicht ist die Adresse falsch; wenn nicht, sagen Sie es denen, die diesen Dienst betreiben.',
  'Nothing is changed yet': 'Noch ist nichts geändert',
  'Faults: {count}.': 'Fehler: {count}.',
  'No answer came, so nobody knows whether these rows are there. Import again, or choose the file again under the same name: no row is made twice.':
    'Es kam keine Antwort, also weiß niemand, ob diese Zeilen da sind. Importieren Sie noch einmal, oder wählen Sie die Datei noch einmal unter demselben Namen: Keine Zeile wird zweimal angelegt.',
  'The file cannot be read.': 'Die Datei kann nicht gelesen werden.',
  'The header names {name} twice.': 'Die Kopfzeile nennt {name} zweimal.',
  'This is not CSV: a quote is missing or too many.':
    'Das ist kein CSV: Ein Anführungszeichen fehlt oder ist zu viel.',
  'has {count} values, the header names {named}': 'hat {count} Werte, die Kopfzeile nennt {named}',
  'no UTF-8, so read as Windows-1252: look at the accents':
    'kein UTF-8, also als Windows-1252 gelesen: Sehen Sie die Umlaute an',
  'Nothing is imported. Once they are mended, choose the file again.':
    'Es ist nichts importiert. Wählen Sie die Datei, wenn sie behoben sind, noch einmal.',
  'The rows before are there. Once these are mended, choose the file again under the same name: rows that are unchanged are not made again, even if you delete them here. To begin anew, give the file another name.':
    'Die Zeilen davor sind da. Wählen Sie die Datei, wenn diese behoben sind, noch einmal unter demselben Namen: unveränderte Zeilen werden nicht noch einmal angelegt, auch wenn Sie sie hier löschen. Um neu zu beginnen, geben Sie der Datei einen anderen Namen.',
  'Nothing here is open to you. You are signed in with the role {role}.':
    'Hier steht Ihnen nichts offen. Sie sind mit der Rolle {role} angemeldet.',
  'All of it was imported on {date}. Imported again, its rows are there twice.':
    'Sie wurde am {date} ganz importiert. Noch einmal importiert, sind ihre Zeilen zweimal da.',
  'Made of {label} if it is left empty.': 'Wird aus {label} gemacht, wenn es leer bleibt.',
  'What is not offered here': 'Was hier nicht angeboten wird',
  Change: 'Ändern',
  'Nothing to save': 'Nichts zu speichern',
  Open: 'Öffnen',
  'Show all: {label}': 'Alle zeigen: {label}',
  'Somebody changed it meanwhile.': 'Jemand hat es inzwischen geändert.',
  'The first {count} are shown.': 'Die ersten {count} sind zu sehen.',
  'The list shows them as they are now, and they are still selected.':
    'Die Liste zeigt sie, wie sie jetzt sind; sie sind noch ausgewählt.',
  'This is not JSON yet.': 'Das ist noch kein JSON.',
  'This token is refused: take a new one. The service says: {message}':
    'Dieses Token wird abgelehnt: Nehmen Sie ein neues. Der Dienst sagt: {message}',
  'At most 15 digits of a number are kept.': 'Von einer Zahl bleiben höchstens 15 Ziffern.',
  'This is not a number: write it like {example}.':
    'Das ist keine Zahl: Schreiben Sie sie wie {example}.',
  'Those with * are needed.': 'Die mit * sind nötig.',
  'Try again': 'Noch einmal versuchen',
  'is not empty': 'ist nicht leer',
  '{count} done, {left} left as they were': '{count} erledigt, {left} unverändert',
  ', then save again.': ', und dann noch einmal speichern.',
  'A CSV file whose first line names the fields: {names}.':
    'Eine CSV-Datei, deren erste Zeile die Felder nennt: {names}.',
  'Actions of {label}': 'Aktionen für {label}',
  'A new file': 'Eine neue Datei',
  'Add {label}': 'Hinzufügen: {label}',
  'Back to the list': 'Zurück zur Liste',
  Apply: 'Anwenden',
  Back: 'Zurück',
  Before: 'Vorher',
  'Change a field…': 'Feld ändern…',
  'Change {count}': '{count} ändern',
  'Change {count}: {label}': '{count} ändern: {label}',
  'Choose what shall stay. Nothing is saved yet.':
    'Wählen Sie, was bleiben soll. Noch ist nichts gespeichert.',
  Clear: 'Aufheben',
  'Clear {label}': '{label} leeren',
  Close: 'Schließen',
  Columns: 'Spalten',
  Condition: 'Bedingung',
  'Copy as new': 'Als neu kopieren',
  Create: 'Anlegen',
  'Create “{title}”': '„{title}“ anlegen',
  Delete: 'Löschen',
  'Discard changes': 'Verwerfen',
  'Delete the view {label}': 'Ansicht {label} löschen',
  'Delete {label}?': '{label} löschen?',
  Deleted: 'Gelöscht',
  'Export as CSV': 'Als CSV exportieren',
  Fault: 'Fehler',
  Field: 'Feld',
  File: 'Datei',
  Filter: 'Filter',
  'From duet token or your identity provider. This tab alone keeps it.':
    'Aus duet token oder von Ihrem Identitätsanbieter. Nur dieser Tab behält es.',
  'From the end': 'Vom Ende',
  Import: 'Importieren',
  'Import CSV…': 'CSV importieren…',
  'Import: {label}': 'Importieren: {label}',
  Leave: 'Verlassen',
  'Leave without saving?': 'Ohne Speichern verlassen?',
  'Loading…': 'Wird geladen…',
  Menu: 'Menü',
  More: 'Mehr',
  Name: 'Name',
  'New {label}': 'Neu: {label}',
  'Next page': 'Nächste Seite',
  'Next row': 'Nächste Zeile',
  No: 'Nein',
  'No rows yet.': 'Noch keine Zeilen.',
  'None.': 'Keine.',
  'Not found': 'Nicht gefunden',
  'Not saved': 'Nicht gespeichert',
  'Nothing found.': 'Nichts gefunden.',
  'One to a line.': 'Eins pro Zeile.',
  'Open {label}': '{label} öffnen',
  'With a token': 'Mit einem Token',
  'Ctrl S': 'Strg S',
  'Look at what is marked.': 'Sehen Sie an, was markiert ist.',
  Page: 'Seite',
  Pages: 'Seiten',
  'Previous page': 'Vorige Seite',
  'Previous row': 'Vorige Zeile',
  Remove: 'Entfernen',
  'Reload the list': 'Liste neu laden',
  'Remove {label}': '{label} entfernen',
  Rows: 'Zeilen',
  Save: 'Speichern',
  'Save first: what you typed is not part of it yet.':
    'Speichern Sie zuerst: Ihre Eingaben gehören noch nicht dazu.',
  'Save this view': 'Diese Ansicht speichern',
  'Save or delete views…': 'Ansichten speichern oder löschen…',
  Saved: 'Gespeichert',
  'Saved, with what others changed meanwhile: {labels}':
    'Gespeichert, mit dem, was andere inzwischen geändert haben: {labels}',
  'Saving…': 'Wird gespeichert…',
  'Search {label}': 'Suchen: {label}',
  'Searching…': 'Wird gesucht…',
  Sections: 'Bereiche',
  'Select all on this page': 'Alle auf dieser Seite auswählen',
  'Select {label}': '{label} auswählen',
  'Selected rows': 'Ausgewählte Zeilen',
  'Sending…': 'Wird gesendet…',
  Cancel: 'Abbrechen',
  'Sign in': 'Anmelden',
  'Sign out': 'Abmelden',
  'Somebody else changed this meanwhile': 'Jemand anders hat das inzwischen geändert',
  Stay: 'Bleiben',
  'Take these': 'Diese übernehmen',
  'The service cannot be reached.': 'Der Dienst ist nicht erreichbar.',
  'What you typed is still here.': 'Ihre Eingaben sind noch da.',
  Theirs: 'Die andere',
  'Theme: {theme}': 'Farben: {theme}',
  'There is no such page, or it is not open to you.':
    'Diese Seite gibt es nicht, oder sie steht Ihnen nicht offen.',
  'This cannot be undone. What belongs to it goes too.':
    'Das lässt sich nicht rückgängig machen. Was dazugehört, wird mit gelöscht.',
  'To the content': 'Zum Inhalt',
  'To the start': 'Zum Anfang',
  Token: 'Token',
  'Type to find': 'Zum Suchen tippen',
  'Use the token': 'Token verwenden',
  Value: 'Wert',
  'Value of {label}': 'Wert von {label}',
  Views: 'Ansichten',
  'What else they changed is kept: {labels}.':
    'Was die andere Seite sonst geändert hat, bleibt: {labels}.',
  'What you typed is not saved.': 'Ihre Eingaben sind nicht gespeichert.',
  Where: 'Wo',
  Yes: 'Ja',
  'You may not make new ones here.': 'Hier dürfen Sie nichts Neues anlegen.',
  'Your account': 'Ihr Konto',
  'You are signed out. What you typed is still here:':
    'Sie sind abgemeldet. Ihre Eingaben sind noch da:',
  Yours: 'Ihre',
  after: 'nach',
  'as the system': 'wie das System',
  'at least': 'mindestens',
  'at most': 'höchstens',
  before: 'vor',
  'by month': 'nach Monat',
  'by {label}': 'nach {label}',
  contains: 'enthält',
  dark: 'dunkel',
  from: 'ab',
  has: 'hat',
  is: 'ist',
  'is empty': 'ist leer',
  'is not': 'ist nicht',
  'is one of': 'ist eins von',
  'is required': 'wird gebraucht',
  'left out, as no field above: {names}': 'ausgelassen, da oben kein Feld so heißt: {names}',
  'less than': 'weniger als',
  light: 'hell',
  'Line {number}': 'Zeile {number}',
  'Lines from {number}': 'Zeilen ab {number}',
  'more than': 'mehr als',
  none: 'keine',
  'of {count}': 'von {count}',
  'paste a new token below': 'unten ein neues Token einfügen',
  'sign in in another tab': 'in einem anderen Tab anmelden',
  'starts with': 'beginnt mit',
  until: 'bis',
  '{name} {open} may be {one} or {other}: write it with a point alone.':
    '{name} {open} kann {one} oder {other} sein: Schreiben Sie es nur mit einem Punkt.',
  '{count} changed': '{count} geändert',
  '{count} rows': '{count} Zeilen',
  '{count} rows exported': '{count} Zeilen exportiert',
  '{count} rows imported': '{count} Zeilen importiert',
  '{count} selected': '{count} ausgewählt',
  '{some} of {count}': '{some} von {count}',
  '{label} made': '{label} angelegt',
  '{label} {count}': '{label}: {count}',
  '{label} {count} {rows}?': '{label}: {count} {rows}?',
  '{label}: done': '{label}: erledigt',
  '{label}: {count} done': '{label}: {count} erledigt',
}

export const language = navigator.language.startsWith('de') ? 'de' : 'en'

/** The words of the page's own texts, with values in place of `{names}`; numbers are written as they are in the language. */
export const t = (english: string, values: Record<string, string | number> = {}): string => {
  const words = language === 'de' ? (german[english] ?? english) : english
  const said = words.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? ''
    return typeof value === 'number' ? value.toLocaleString(language) : value
  })
  return said.replace(/^1 (row|Zeile)[sn]\b/, '1 $1')
}

/** Numbers as people write them in a language, that of the browser unless another is named: `read` gives undefined for what is none there, lest `100,5` be 1005. */
export const numbersOf = (locale?: string) => {
  const usual = { numberingSystem: 'latn', useGrouping: false, maximumFractionDigits: 20 } as const
  const parts = [{ numberingSystem: 'latn' }, {}].flatMap(options =>
    new Intl.NumberFormat(locale, options).formatToParts(1_234_567.8),
  )
  const valuesOf = (kind: string) =>
    parts.flatMap(({ type, value }) => (type === kind ? value : []))
  const marksOf = (kind: string) => valuesOf(kind).join('')
  // Some languages have groups of two; nobody groups a 0, or by two marks.
  const size = valuesOf('integer')[1]?.length ?? 3
  const begin = `[1-9]\\d{0,${size - 1}}(?<gap>[${marksOf('group')}\\s’'])`
  const whole = `\\d+|${begin}(?:\\d{${size}}\\k<gap>)*\\d{3}|`
  const form = new RegExp(`^([+-]?)(${whole})(?:[${marksOf('decimal')}](\\d*))?$`, 'u')
  const own = [...new Intl.NumberFormat(locale, { useGrouping: false }).format(9_876_543_210)]
  return {
    show: (value: number, digits = 0): string =>
      new Intl.NumberFormat(locale, { ...usual, minimumFractionDigits: digits }).format(value),
    read: (text: string): number | undefined => {
      const typed = text
        .replace(/[\u061c\u200e\u200f]/g, '')
        .trim()
        .replace('−', '-')
        .replace(/\p{Nd}/gu, digit => (own.includes(digit) ? `${9 - own.indexOf(digit)}` : digit))
      const [, sign = '', grouped = '', , fraction = ''] = form.exec(typed) ?? []
      const digits = grouped.replace(/\D/g, '')
      const value = Number(`${sign}${digits}.${fraction}`)
      // More digits than a number holds would be another number.
      const isExact = (digits + fraction).replace(/^0+/, '').length <= 15
      const isRead = isExact || (fraction === '' && Number.isSafeInteger(value))
      return isRead && !Number.isNaN(value) ? value : undefined
    },
  }
}

export const numbers = numbersOf()

/** A label within a sentence: German keeps its capitals. */
export const lower = (label: string): string => (language === 'de' ? label : label.toLowerCase())
