import { catalogue } from '../../frame/words.ts'

export const domainsWords = catalogue({
  en: {
    title: 'Domains',
    lead: 'Mail is accepted from active domains. A domain becomes active when its DNS records are found; the service looks for them by itself.',
    add: 'Add a domain',
    domain: 'Domain',
    domainHint: 'The domain of your from addresses, such as ship.example.',
    envelope: 'Tracking host (optional)',
    envelopeHint: 'Labels below the domain for open, click and unsubscribe links, such as links.',
    state: 'State',
    states: {
      pending: 'Pending',
      active: 'Active',
      inactive: 'Inactive',
      rejected: 'Blocked',
      broken: 'Broken',
      unproven: 'Active, without records',
    },
    records: 'Records',
    right: (right: number, all: number) => `${right} of ${all} found`,
    looked: 'Looked up',
    never: 'not yet',
    none: 'No domain yet',
    noneText:
      'Add the domain of your from addresses. You get the DNS records to publish, and this page shows when they are found.',
    check: 'Look up now',
    zone: 'Zone file',
    remove: 'Remove',
    removeTitle: (name: string) => `Remove ${name}?`,
    removeText: 'Mail from it is no longer accepted. Mail that was accepted is still delivered and signed.',
    allRight: 'All required records are found. Mail from this domain is accepted.',
    toAdd: (count: number) =>
      count === 1
        ? 'One required record is still to be published where this domain’s DNS is kept. The domain becomes active by itself.'
        : `${count} required records are still to be published where this domain’s DNS is kept. The domain becomes active by itself.`,
    activeWithout: (count: number) =>
      count === 1
        ? 'Mail is accepted, because the operator activated the domain, but 1 required record is not found. Without it, providers may reject mail.'
        : `Mail is accepted, because the operator activated the domain, but ${count} required records are not found. Providers may reject mail.`,
    broken: 'Records that were there are gone. Publish them again; otherwise, the domain stops sending.',
    rejected: 'The operator of this service blocked the domain.',
    purposes: { dkim: 'DKIM', spf: 'SPF', returnPath: 'Return path', envelope: 'Tracking host', dmarc: 'DMARC' },
    found: { unchecked: 'Not looked up yet', right: 'Found', wrong: 'Wrong', missing: 'Not found' },
    required: 'required',
    advised: 'advised',
    type: 'Type',
    host: 'Host',
    value: 'Value',
    foundInstead: 'Found',
    problem: 'Problem',
    strings: 'As strings',
    stringsHint:
      'A TXT record has strings of at most 255 characters. Most forms cut the value by themselves; a zone file has it like this.',
    provisional: (host: string) => `The host name “${host}” is not final`,
    provisionalText:
      'No other machine can find it, so records that name it are of no use yet. The operator of this service sets RETURN_PATH_HOST and PUBLIC_URL.',
    faults: {
      cut: 'The text was cut. Enter the whole value; if the form takes 255 characters only, enter it as strings.',
      quoted: 'Quotation marks or backslashes became part of the text. Enter the value without them.',
      doubled:
        'The domain was appended twice. Enter the host, or the target, without the domain or with a dot at its end.',
      elsewhere: 'The record is at another host, which is shown above. Move it to the host of this record.',
    },
    key: 'Key',
    keys: {
      next: 'signs as soon as it is found',
      active: 'signs',
      retiring: 'no longer signs; keep it for mail under way',
      retired: 'can be removed',
    },
    rotate: 'Create a new DKIM key',
    ed25519On: 'Also sign with Ed25519',
    ed25519Off: 'No longer sign with Ed25519',
    ed25519Title: 'Stop signing with Ed25519?',
    ed25519Text:
      'Its key is deleted. Mail is signed with the other key alone. Keep the record until this page no longer shows it.',
    removed: 'removed',
  },
  de: {
    title: 'Domains',
    lead: 'Angenommen wird von aktiven Domains. Eine Domain wird aktiv, wenn ihre DNS-Einträge gefunden sind; sie werden von selbst abgefragt.',
    add: 'Domain hinzufügen',
    domain: 'Domain',
    domainHint: 'Die Domain Ihrer Absenderadressen, etwa ship.example.',
    envelope: 'Tracking-Host (optional)',
    envelopeHint: 'Namensteile unter der Domain für Links zu Öffnungen, Klicks und Abmeldungen, etwa links.',
    state: 'Zustand',
    states: {
      pending: 'Ausstehend',
      active: 'Aktiv',
      inactive: 'Inaktiv',
      rejected: 'Blockiert',
      broken: 'Gestört',
      unproven: 'Aktiv, ohne Einträge',
    },
    records: 'Einträge',
    right: (right, all) => `${right} von ${all} gefunden`,
    looked: 'Abgefragt',
    never: 'noch nicht',
    none: 'Noch keine Domain',
    noneText:
      'Fügen Sie die Domain Ihrer Absenderadressen hinzu. Sie erhalten die nötigen DNS-Einträge, und diese Seite zeigt, wann sie gefunden sind.',
    check: 'Jetzt abfragen',
    zone: 'Zonendatei',
    remove: 'Entfernen',
    removeTitle: (name) => `${name} entfernen?`,
    removeText: 'Von ihr wird nichts mehr angenommen. Schon Angenommenes wird noch zugestellt und signiert.',
    allRight: 'Alle nötigen Einträge sind da. Nachrichten von dieser Domain werden angenommen.',
    toAdd: (count) =>
      count === 1
        ? 'Ein nötiger Eintrag fehlt noch im DNS dieser Domain. Sie wird dann von selbst aktiv.'
        : `${count} nötige Einträge fehlen noch im DNS dieser Domain. Sie wird dann von selbst aktiv.`,
    activeWithout: (count) =>
      count === 1
        ? 'Der Betreiber hat die Domain aktiviert, aber 1 nötiger Eintrag ist nicht gefunden. Ohne ihn lehnen Provider Post vielleicht ab.'
        : `Der Betreiber hat die Domain aktiviert, aber ${count} nötige Einträge sind nicht gefunden. Ohne sie lehnen Provider Post vielleicht ab.`,
    broken: 'Einträge, die da waren, sind fort. Tragen Sie sie wieder ein; sonst sendet die Domain nicht mehr.',
    rejected: 'Der Betreiber dieses Dienstes hat die Domain blockiert.',
    purposes: { dkim: 'DKIM', spf: 'SPF', returnPath: 'Return-Path', envelope: 'Tracking-Host', dmarc: 'DMARC' },
    found: { unchecked: 'Noch nicht abgefragt', right: 'Gefunden', wrong: 'Falsch', missing: 'Nicht gefunden' },
    required: 'nötig',
    advised: 'empfohlen',
    type: 'Typ',
    host: 'Host',
    value: 'Wert',
    foundInstead: 'Gefunden',
    problem: 'Problem',
    strings: 'In Zeichenfolgen',
    stringsHint:
      'Ein TXT-Eintrag besteht aus Zeichenfolgen von höchstens 255 Zeichen. Die meisten Formulare teilen selbst; so steht der Wert in einer Zonendatei.',
    provisional: (host) => `Der Hostname „${host}“ ist nicht endgültig`,
    provisionalText:
      'Kein anderer Rechner findet ihn, also nützen Einträge mit ihm noch nichts. Der Betreiber dieses Dienstes setzt RETURN_PATH_HOST und PUBLIC_URL.',
    faults: {
      cut: 'Der Text wurde abgeschnitten. Geben Sie den ganzen Wert ein; nimmt das Formular nur 255 Zeichen, dann in Zeichenfolgen.',
      quoted: 'Anführungszeichen oder Rückstriche gehören jetzt zum Text. Geben Sie den Wert ohne sie ein.',
      doubled:
        'Die Domain wurde zweimal angehängt. Geben Sie Host oder Ziel ohne die Domain ein, oder mit einem Punkt am Ende.',
      elsewhere:
        'Der Eintrag steht an einem anderen Host, siehe oben. Verschieben Sie ihn an den Host dieses Eintrags.',
    },
    key: 'Schlüssel',
    keys: {
      next: 'signiert, sobald er gefunden ist',
      active: 'signiert',
      retiring: 'signiert nicht mehr; für Post unterwegs noch nötig',
      retired: 'kann entfernt werden',
    },
    rotate: 'Neuen DKIM-Schlüssel anlegen',
    ed25519On: 'Auch mit Ed25519 signieren',
    ed25519Off: 'Nicht mehr mit Ed25519 signieren',
    ed25519Title: 'Nicht mehr mit Ed25519 signieren?',
    ed25519Text:
      'Der Schlüssel wird gelöscht. Post wird nur noch mit dem anderen signiert. Lassen Sie den Eintrag stehen, bis diese Seite ihn nicht mehr zeigt.',
    removed: 'entfernt',
  },
})
