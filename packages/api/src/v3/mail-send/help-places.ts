import type { RuleName } from './rules.ts'

const MAILBOX = ['emailMissing', 'emailTooLong', 'addressInvalid'] as const
const HEADERS = [
  ...(['headerNameInvalid', 'headerReserved', 'headerTwice', 'headerValueInvalid', 'headerBreaks'] as const),
]
const SEND_AT = ['sendAtInvalid', 'sendAtTooFar'] as const
const SETTING = ['mailSettingInvalid'] as const

/** A place that holds no rule of its own has the one about its type. */
const TYPE_ONLY: readonly RuleName[] = []

/**
 * The sections of the help page: the anchor that `help` of an error leads to (v3 contract 1.5), and the rules of mail/send that may be
 * broken there. A test sends a mail for every rule and holds the answers against this table.
 */
export const HELP_PLACES: Readonly<Record<string, readonly RuleName[]>> = {
  'message.from': ['fromMissing', 'emailTooLong', 'fromInvalid'],
  'message.from.name': ['nameBreaks'],
  '-Personalizations-Errors': ['personalizationsMissing'],
  'message.personalizations': ['personalizationsTooMany', 'recipientsTooMany'],
  'message.recipient-errors': ['recipientTwice'],
  'message.personalizations.to': ['toMissing', ...MAILBOX],
  'message.personalizations.to.name': ['nameBreaks'],
  'message.personalizations.cc': MAILBOX,
  'message.personalizations.cc.name': ['nameBreaks'],
  'message.personalizations.bcc': MAILBOX,
  'message.personalizations.bcc.name': ['nameBreaks'],
  'message.personalizations.from': ['emailTooLong', 'addressInvalid', 'fromDomainDiffers'],
  'message.personalizations.from.name': ['nameBreaks'],
  'message.personalizations.subject': ['subjectInvalid'],
  'message.personalizations.headers': HEADERS,
  'message.personalizations.substitutions': [
    ...(['substitutionsTooMany', 'substitutionsTooLarge', 'substitutionsWithDynamic'] as const),
  ],
  'message.personalizations.dynamic_template_data': TYPE_ONLY,
  'message.personalizations.custom_args': ['customArgsEmpty', 'customArgsTooLarge'],
  'message.personalizations.send_at': SEND_AT,
  'message.subject': ['subjectInvalid', 'subjectMissing'],
  'message.reply_to': ['emailTooLong', 'replyToInvalid', 'replyToBoth'],
  'message.reply_to.name': ['nameBreaks'],
  'message.reply_to_list': ['emailTooLong', 'replyToListInvalid', 'replyToListTooLong', 'replyToListTwice'],
  'message.reply_to_list.name': ['nameBreaks'],
  'message.content': ['contentMissing', 'contentOrder'],
  'message.content.type': ['contentTypeMissing', 'contentTypeInvalid', 'contentTypeCharset', 'contentTypeUnusable'],
  'message.content.value': ['contentValueMissing'],
  'message.attachments': TYPE_ONLY,
  'message.attachments.content': ['fileContentMissing', 'fileContentInvalid'],
  'message.attachments.filename': ['fileNameMissing', 'fileNameNotText', 'fileNameInvalid'],
  'message.attachments.type': ['fileTypeMissing', 'fileTypeInvalid', 'fileTypeCharset'],
  'message.attachments.disposition': ['dispositionInvalid'],
  'message.attachments.content_id': ['contentIdMissing', 'contentIdNotText', 'contentIdInvalid'],
  'message.template_id': [
    ...(['dynamicWithoutTemplate', 'dynamicWithLegacy', 'templateIdInvalid', 'templateIdNotText'] as const),
    'templateUnknown',
  ],
  'message.sections': ['sectionInvalid'],
  'message.headers': HEADERS,
  'message.categories': [
    ...(['categoriesTooMany', 'categoriesInvalid', 'categoryTooLong', 'categoryTwice', 'categoryNotAscii'] as const),
  ],
  'message.custom_args': ['customArgsEmpty', 'customArgsTooLarge'],
  'message.send_at': SEND_AT,
  'message.batch_id': ['batchInvalid', 'batchUnknown'],
  'message.asm': TYPE_ONLY,
  'message.asm.group_id': ['groupInvalid', 'groupUnknown'],
  'message.asm.groups_to_display': ['groupsInvalid', 'groupsTooMany'],
  'message.ip_pool_name': ['poolInvalid', 'poolUnknown'],
  'message.mail_settings': TYPE_ONLY,
  'message.mail_settings.bypass_list_management': ['bypassConflict'],
  'message.mail_settings.bypass_list_management.enable': SETTING,
  'message.mail_settings.bypass_spam_management': TYPE_ONLY,
  'message.mail_settings.bypass_spam_management.enable': SETTING,
  'message.mail_settings.bypass_bounce_management': TYPE_ONLY,
  'message.mail_settings.bypass_bounce_management.enable': SETTING,
  'message.mail_settings.bypass_unsubscribe_management': TYPE_ONLY,
  'message.mail_settings.bypass_unsubscribe_management.enable': SETTING,
  'message.mail_settings.footer': TYPE_ONLY,
  'message.mail_settings.footer.enable': SETTING,
  'message.mail_settings.footer.text': ['footerInvalid'],
  'message.mail_settings.footer.html': ['footerInvalid'],
  'message.mail_settings.sandbox_mode': TYPE_ONLY,
  'message.mail_settings.sandbox_mode.enable': SETTING,
  'message.tracking_settings': TYPE_ONLY,
  ...tracking('click_tracking', ['enable', 'enable_text'], []),
  ...tracking('open_tracking', ['enable'], ['substitution_tag']),
  ...tracking('subscription_tracking', ['enable'], ['text', 'html', 'substitution_tag']),
  ...tracking(
    'ganalytics',
    ['enable'],
    ['source', 'medium', 'term', 'content', 'campaign'].map((name) => `utm_${name}`),
  ),
}

function tracking(
  name: string,
  flags: readonly string[],
  texts: readonly string[],
): Record<string, readonly RuleName[]> {
  const place = `message.tracking_settings.${name}`
  return Object.fromEntries([
    [place, TYPE_ONLY],
    ...flags.map((flag) => [`${place}.${flag}`, ['trackingInvalid']]),
    ...texts.map((text) => [`${place}.${text}`, ['trackingNotText']]),
  ])
}
