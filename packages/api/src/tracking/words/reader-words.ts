/** A sentence that has this mark, so that a translation without it does not compile. */
type With<Mark extends string> = `${string}{${Mark}}${string}`

/** Texts of the pages for recipients, in one language. In those without {sender} the sender is not known. */
export interface ReaderWords {
  /** Name of the menu of languages. */
  readonly language: string
  /** Heading and button of the unsubscribe page. */
  readonly unsubscribe: string
  /** Questions of the unsubscribe page: all mail, a named group, or a group without a name. */
  readonly leaveAll: With<'sender'>
  readonly leaveAllUnknown: string
  readonly leaveGroup: With<'sender'> & With<'group'>
  readonly leaveKind: With<'sender'>
  readonly leaveKindUnknown: string
  /** The same after unsubscribing. */
  readonly leftTitle: string
  readonly leftAll: With<'sender'>
  readonly leftAllUnknown: string
  readonly leftGroup: With<'sender'> & With<'group'>
  readonly leftKind: With<'sender'>
  readonly leftKindUnknown: string
  readonly since: With<'date'>
  readonly mistake: string
  readonly again: string
  readonly contact: string
  readonly backTitle: string
  readonly backText: string
  /** Link to the preferences page, and the texts of that page. */
  readonly choose: string
  readonly preferences: string
  readonly preferencesLead: With<'sender'>
  readonly emails: string
  readonly save: string
  readonly saved: string
  readonly leaveEverything: string
  readonly leaveEverythingButton: string
  /** Texts for a link that was cut or changed on its way to the recipient. */
  readonly brokenTitle: string
  readonly brokenText: string
  readonly expiredTitle: string
  readonly expiredText: string
  readonly busyTitle: string
  readonly busyText: string
  readonly errorTitle: string
  readonly errorText: string
}
