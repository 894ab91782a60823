/**
 * Replies that refuse the sender: its host, volume, content, reputation or authentication. Few say so with their code. Where each wording
 * was read is in test/delivery/wordings/.
 */

/** Said even with the code or the words of a missing mailbox: 5.1.1, 5.2.1, "mailbox unavailable". */
export const PLAINLY_OF_SENDER = [
  { class: 'authentication', text: /\b(spf|dkim|dmarc) sender invalid\b/i },
  { class: 'rate', text: /\btoo many (invalid recipients|recipients this hour)\b/i },
  {
    class: 'spam',
    text: /\b(ip|sender|host|client|domain)( address)?:?( [\w.:[\]()]{2,60})? (is|was|has been) (black|block)[ -]?listed\b/i,
  },
] as const

/** After the wordings of recipients and before the codes, since the sender's come with 5.1.0, 5.2.0, 5.3.0 and 5.5.0 as well. */
export const OF_SENDER = [
  // Codes of NetEase, then of Cox and Charter, with the meanings that these give them.
  { class: 'rate', text: /\b(HL:(REP|ICC|IFC|IFQ|ITC)|(MI|RP):(CEL|CCL|DMC|DRC|SFQ|STC|TRC|RCL|ORQ))\b/ },
  { class: 'spam', text: /\b(DT:(SPM|RBL)|HL:(MEP|IHU|IPB))\b/ },
  { class: 'policy', text: /\b(WM:BL[IU]|DT:SUM)\b/ },
  { class: 'authentication', text: /\bAUP#(CXDNS|CXSNDR|In?-11[0-5]\d)\b/ },
  { class: 'rate', text: /\bAUP#(CXCNCT|CXMXRT|In?-1[34]\d\d|In?-15[458]0)\b/ },
  { class: 'spam', text: /\bAUP#(CXBL|CDRBL|IPBL\d|URLBL\d|In?-1[02]\d\d)/ },
  {
    class: 'rate',
    text: /\btoo (many (simultaneous )?(errors|sessions|connects|same size|e-?mails)|frequent connects)\b|\btrop de connexions\b/i,
  },
  {
    class: 'rate',
    text: /\b(concurrent connections|excessive volume|threshold exceeded|try again slower|temporarily deferred)\b|\bmax(imum)? (e-?mails|messages?) per\b/i,
  },
  { class: 'rate', text: /\byour mail from \S{1,64} was deferred\b/i },
  // Only those of the sender: a lookup of the recipient's domain fails too.
  {
    class: 'authentication',
    text: /\bip name look-?up fail|\bdns check failure\b|\bfailure in dns\b|\bunresolvable relay host\b|\bunverifyable sending\b|\bdomainkeys\b/i,
  },
  // A network address that is refused or listed. Postfix says "refused to talk to me" of a server that it asked.
  {
    class: 'spam',
    text: /\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}[>\])]{0,2}[:,]? (is |was )?(currently )?(blocked|rejected|refused(?! to)|listed|found (in|on))\b/i,
  },
  {
    class: 'spam',
    text: /\b[23][\da-f]{3}:[\da-f:]{2,40}[>\])]{0,2} (is |was )?(blocked|rejected|refused(?! to)|listed)\b/i,
  },
  { class: 'spam', text: /\bip( address)? (is )?(blocked|rejected|reject|refused|banned|filtered|in prison)\b/i },
  { class: 'spam', text: /\b(bad|black|invalid|dynamic|transient|spam|sending|source|sender) ips?\b/i },
  { class: 'spam', text: /\b(from|by|in) your ip\b|\byour ip ?\([\w.:]{2,45}\) is filtered\b/i },
  {
    class: 'spam',
    text: /\b(ip|ip-adresse|adresse ip|ip adres|adres ip|direcci.{1,2}n ip|endere.{1,2}o ip)( \S{2,60})? (wurde|ist|est|is|ha sido|foi|zosta.{1,2}) (gesperrt|blockiert|bloqu|geblokkeerd|zablokowan)/i,
  },
  { class: 'spam', text: /\bindirizzo ip( \S{2,60})? bloccato\b|\badresse ip source bloquee\b|\bmail rejete\b/i },
  {
    class: 'spam',
    text: /\b(your|sending|client|remote) (server.s )?(ip( address)?|hosts?|servers?|mta|mail ?servers?|network|domain)( \S{1,60})? (is|was|has been|have been)( temporarily| currently| permanently)? (blocked|banned|refused|denied|rejected|blacklisted)\b/i,
  },
  {
    class: 'spam',
    text: /\b(phish\w{0,6}|mass ?mailer|bulk\.advertising|open proxy|dial-?up|dynamic-ip|residential address)\b|\bsmtp server of your (isp|provider)\b/i,
  },
  // Hotmail's, which are in use with its newer texts.
  { class: 'spam', text: /\b(OU|SC|DY)-00\d\b/ },
  { class: 'rate', text: /\bRP-00\d\b/ },
  { class: 'spam', text: /спам|ч[её]рн.{2,3} спис|垃圾邮件|迷惑メール|ブラックリスト|스팸/i },
  {
    class: 'spam',
    text: /\b(anti-?spam|antyspam\w{0,8}|dnsbls?|drbl|surbl|uribl|sorbs|spamcop|junk ?mail|bulk e?-?mail|cloudmark)\b/i,
  },
  {
    class: 'spam',
    text: /\bcontent (denied|rejected|filter)|\b(banned|unacceptable) content\b|\bsuspected (spam|bounce attacks)\b|\brecurrent pattern\b|\bmessage filtered\b/i,
  },
  {
    class: 'spam',
    text: /\bblocked (for abuse|by ldap)\b|\b(esmtp|cmsmtp) blocked\b|\bconnection is being blocked\b|\blisted as abusive\b|\brejected: abus\b|:blocked\)|^blocked\.?$|^go away\b/i,
  },
  {
    class: 'spam',
    text: /\bis listed (in|on|at|by)\b|\b(domain|address) listed (in|on|at|by)\b|\bto this (e-?mail|mail) system has been rejected\b/i,
  },
  // T-Online greets hosts so that it does not know, or knows too well.
  { class: 'spam', text: /\ba problem occurred\. \(ask your postmaster\b/i },
  {
    class: 'policy',
    text: /\bpolicy (violations?|restrictions?|reasons?|rejection|error)\b|\b(security|content|examination|spoofing|local|block) polic(y|ies)\b|\bnaruszenie zasad\b/i,
  },
  {
    class: 'policy',
    text: /\bservice refusee?\b|\bemetteur invalide\b|\badministrative prohibition\b|\benvelope (blocked|rejected)\b|\bspoofed message\b|\bblocked senders\b/i,
  },
  {
    class: 'policy',
    text: /\bsender address blocked\b|\bsenderfilterconfig\b|\bmessage not allowed\b|\bmail from \S{1,255} not allowed\b|\bnetwork not allowed\b|\bno access from mail server\b/i,
  },
  {
    class: 'policy',
    text: /\bconnection denied\b|\besmtp not accepting connections\b|\bdenies the sender\b|\brequires valid sender\b|\bunauthorized interface\b/i,
  },
  {
    class: 'policy',
    text: /\b(absender\w{0,10}|exp.{1,2}diteur|remitente|remetente|mittente|nadawca|afzender) (abgelehnt|gesperrt|unbekannt|refus|inconnu|desco|rechazad|bloque|rifiutat|sconosciut|odrzucon|zablokowan|onbekend)/i,
  },
] as const

/** Last of the wordings: the recipient, the size or relaying may be the reason, and then an earlier rule says so. */
export const PERHAPS_OF_SENDER = [
  {
    class: 'policy',
    text: /\baccess denied\b|\bnot (allowed|permitted|authori[sz]ed) (access|to (send|connect|submit))\b/i,
  },
  {
    class: 'policy',
    text: /\b(host|mta|ip|ip address|sender) (is )?not (allowed|permitted|authori[sz]ed)\b|\bnot accept(ing)? (e-?)?mail from\b|\bmail from this (ip|host)\b/i,
  },
  {
    class: 'policy',
    text: /\b(message|mail|connection|transaction) (was |is |has been )?(rejected|refused|denied|blocked)( by| for| as| due to| because|:)/i,
  },
  { class: 'policy', text: /\b(mail|message) (refused|blocked|denied)\b|\btemporarily blocked\b|^denied\b/i },
] as const
