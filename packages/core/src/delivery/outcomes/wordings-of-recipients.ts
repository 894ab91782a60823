/** Replies about a recipient, also in other languages than English. Where each wording was read is in test/delivery/wordings/. */

export const FULL = [
  {
    class: 'mailbox-full',
    text: /\b(exceeded storage allocation|allowed storage space|mail ?folder is full|too much mail data|quota violation|too many messages on the server|space has been used up)/i,
  },
  {
    class: 'mailbox-full',
    text: /\bspeicher(volumen|platz)\b|\bzu ?viele mails auf\b|\b(mailbox|postbus) (is )?vol\b|\b(postfach|mailbox)( des \S{1,40})? (ist )?voll\b/i,
  },
  {
    class: 'mailbox-full',
    text: /\b(destinataire|lettres) (est )?pleine\b|\b(mailbox|buz.{1,2}n) lleno\b|\bcasella piena\b|\bcaixa (postal )?cheia\b|\bskrzynka (jest )?pe.{1,2}na\b/i,
  },
  { class: 'mailbox-full', text: /メールボックスが(いっぱい|一杯|満杯)|容量(が|を)(不足|超)/ },
] as const

/** Filters that the recipient set up. */
export const FILTERED = [
  {
    class: 'filtered',
    text: /\b(blocked|rejected) by (the recipient|recipients|this user)\b|\benvelope blocked - user\b|\buser.s reject list\b|\b(user rules|recipient preferences)\b/i,
  },
  { class: 'filtered', text: /\brecipient (does ?n.t|(definitively )?does not) want\b|\buser refuses to receive\b/i },
] as const

export const CLOSED = [
  {
    class: 'mailbox-inactive',
    text: /\binactive (mail ?box|user|account)\b|\bdestinataire archivee\b|\bestado: inactivo\b|\bexpirado por falta de uso\b/i,
  },
  { class: 'mailbox-inactive', text: /\bbloccato per inutilizzo\b|\bkonto jest zablokowane\b/i },
] as const

export const UNKNOWN = [
  {
    class: 'bad-mailbox',
    text: /\bnot our customer\b|\baddressee unknown\b|\bunknown or illegal (alias|user)\b|\bin my badrcptto\b|\bcan.t accept user\b|\bno such id\b/i,
  },
  {
    class: 'bad-mailbox',
    text: /\bnot in recipient list\b|\bemail address is marked as invalid\b|^address invalid\b|\brecipient unrecognized\b/i,
  },
  {
    class: 'bad-mailbox',
    text: /\bnot an active address\b|\bno one at this address\b|\bdelivery error: dd \S{1,255} is no longer valid\b/i,
  },
  {
    class: 'bad-mailbox',
    text: /\b(benutzer|empf.{1,2}nger|adressat|adresse|postfach) (ist )?(nicht (bekannt|gefunden)|unbekannt|existiert nicht)\b|\bunbekannter (benutzer|empf)/i,
  },
  { class: 'bad-mailbox', text: /\bkein solcher (benutzer|empf.{1,2}nger)\b|\bkeine solche (adresse|mailbox)\b/i },
  {
    class: 'bad-mailbox',
    text: /\b(utilisateur|destinataire|adresse|lettres) (est )?(inconnue?|invalide|n.existe pas)\b|\b(gebruiker|ontvanger) onbekend\b|\bonbekende gebruiker\b/i,
  },
  {
    class: 'bad-mailbox',
    text: /\b(usu.{1,2}rio|destinat.{1,2}rio) (des(cono|conhe)cido|inexistente|no existe)\b|\bno existe (dicha persona|ese usuario)\b/i,
  },
  {
    class: 'bad-mailbox',
    text: /\b(utente|destinatario|destin\.|indirizzo) (sconosciuto|inesistente|errato)\b|\bnessun utente simile\b/i,
  },
  { class: 'bad-mailbox', text: /\bnie ma takiego konta\b|\b(u.{1,2}ytkownik|konto)( \S{1,255})? nie istnieje\b/i },
  {
    class: 'bad-mailbox',
    text: /(アドレス|ユーザー?|宛先|メールボックス)[はが](存在しません|見つかりません|いません|ありません)/,
  },
] as const
