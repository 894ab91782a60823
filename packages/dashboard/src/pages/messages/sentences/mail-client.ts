/** Mail clients and browsers by their User-Agent, the more particular first: most of them also name others. */
const CLIENTS: readonly (readonly [name: string, of: RegExp])[] = [
  ['Gmail', /GoogleImageProxy|ggpht\.com/],
  ['Yahoo Mail', /YahooMailProxy|Yahoo! Mail/],
  ['Outlook', /Microsoft Outlook|MSOffice|Outlook-(iOS|Android)/],
  ['Thunderbird', /Thunderbird\//],
  ['eM Client', /eMClient\//],
  ['Samsung Email', /SamsungEmail|SEMC-Email/],
  ['Edge', /Edg(e|A|iOS)?\//],
  ['Opera', /OPR\//],
  ['Samsung Internet', /SamsungBrowser\//],
  ['Firefox', /Firefox\/|FxiOS\//],
  ['Chrome', /Chrome\/|CriOS\//],
  ['Safari', /Safari\//],
  ['Apple Mail', /AppleWebKit\//],
]

const SYSTEMS: readonly (readonly [name: string, of: RegExp])[] = [
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Android', /Android/],
  ['Windows', /Windows NT/],
  ['macOS', /Macintosh|Mac OS X/],
  ['Linux', /Linux/],
]

/** Names longer than any real one are not looked at. */
const MAX_LENGTH = 1000

/** The mail client or browser, and the system, that a User-Agent names: "Apple Mail, iPhone"; undefined if it names none that is known. */
export function mailClient(userAgent: string | undefined): string | undefined {
  const text = userAgent?.slice(0, MAX_LENGTH) ?? ''
  const names = [CLIENTS, SYSTEMS].flatMap((table) => table.find(([, of]) => of.test(text))?.[0] ?? [])
  return names.length === 0 ? undefined : names.join(', ')
}
