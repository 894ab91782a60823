/** A validation rule of the contract's section 2.3 and its error text, in which `{name}` is replaced. */
export interface Rule {
  /** Row of the contract's table; 0: a rule of this service. */
  readonly row: number
  readonly sentence: string
  /** Anchor on the help page if it is not derived from the field; null if there is no help. */
  readonly anchor?: string | null
}

export const RULES = {
  personalizationsMissing: rule(
    1,
    'The personalizations field is required and must have at least one personalization.',
    '-Personalizations-Errors',
  ),
  personalizationsTooMany: rule(
    2,
    'The personalizations block is limited to 1000 personalizations per API request. You have provided {count} personalizations. ' +
      'Please consider splitting this into multiple requests and resending your request.',
  ),
  recipientsTooMany: rule(
    3,
    'There is a limit of 1000 total recipients (to + cc + bcc) per request. You have provided {count} recipients.',
  ),
  toMissing: rule(
    4,
    'The to array is required for all personalization objects, and must have at least one email object with a valid email address.',
  ),
  addressInvalid: rule(5, 'Does not contain a valid address.'),
  emailMissing: rule(6, 'The {list} email parameter is required.'),
  emailTooLong: rule(8, 'The {list} email exceeds the maximum total length of 320 characters'),
  recipientTwice: rule(
    9,
    'Each email address in the personalization block should be unique between to, cc, and bcc. We found the first duplicate ' +
      'instance of [{address}] in the {field} field.',
    'message.recipient-errors',
  ),
  fromDomainDiffers: rule(
    11,
    'The domain of the from email of a personalization must match the domain of the from email of the message.',
  ),
  subjectInvalid: rule(12, 'The subject of your email must be a string at least one character in length.'),
  subjectMissing: rule(
    13,
    'The subject is required. You can get around this requirement if you use a template with a subject defined or if every ' +
      'personalization has a subject defined.',
  ),
  headerValueInvalid: rule(14, 'All values of the headers object must be strings.'),
  headerTwice: rule(15, 'The headers object cannot contain duplicate keys.'),
  headerNameInvalid: rule(16, 'Header keys cannot contain non-ASCII characters or spaces.'),
  headerReserved: rule(17, 'Header can not be one of the reserved keys. Refer to documentation link.'),
  headerBreaks: rule(0, 'Header values cannot contain CR, LF or NUL characters.'),
  nameBreaks: rule(0, 'The name cannot contain CR, LF or NUL characters.'),
  customArgsEmpty: rule(19, 'The custom_args object cannot be empty.'),
  customArgsTooLarge: rule(
    20,
    'The combined size of the global custom arguments and those of a personalization may not exceed 10,000 bytes per personalization.',
  ),
  sendAtInvalid: rule(
    21,
    'The send_at parameter must be a unix timestamp, given as an integer. A time in the past means immediately.',
  ),
  sendAtTooFar: rule(22, 'Scheduling more than 72 hours in advance is forbidden.'),
  substitutionsTooMany: rule(24, 'Each personalization is limited to 10,000 substitutions.'),
  substitutionsTooLarge: rule(25, 'Substitutions are limited to 10000 bytes per personalization'),
  substitutionsWithDynamic: rule(26, 'Substitutions may not be used with dynamic templating'),
  dynamicWithoutTemplate: rule(27, 'The template_id is required when using dynamic templates'),
  dynamicWithLegacy: rule(28, 'Cannot use dynamic template data with a legacy template ID'),
  templateIdInvalid: rule(29, "The template_id must be a valid GUID, you provided '{given}'."),
  templateIdNotText: rule(30, 'The template ID must be a string, you provided {given}.'),
  templateUnknown: rule(31, 'The Template ID must be a valid template id for your account. You provided {given}.'),
  contentMissing: rule(
    32,
    'Unless a valid template_id is provided, the content parameter is required. There must be at least one defined content block. ' +
      'We typically suggest both text/plain and text/html blocks are included, but only one block is required.',
  ),
  contentTypeMissing: rule(33, 'The content type must be a string at least one character in length.'),
  contentTypeInvalid: rule(34, "Cannot contain ';', or CRLF characters."),
  contentTypeCharset: rule(
    0,
    'The content type cannot have a charset parameter, because all text is UTF-8. Other parameters are accepted.',
  ),
  contentTypeUnusable: rule(
    0,
    "The content type must be the media type of a text, such as text/plain or text/html. You provided '{given}'.",
  ),
  contentValueMissing: rule(35, 'The content value must be a string at least one character in length.'),
  contentOrder: rule(
    36,
    'Following RFC 1341, section 7.2, if either text/html or text/plain are to be provided in your email: text/plain needs to be ' +
      'first, followed by text/html, followed by any other content. If present, text/plain and text/html may only be provided once.',
    null,
  ),
  fromMissing: rule(
    37,
    'The from object must be provided for every email send. It is an object that requires the email parameter, but may also ' +
      'contain a name parameter.  e.g. {"email" : "example@example.com"}  or {"email" : "example@example.com", "name" : "Example Recipient"}.',
  ),
  fromInvalid: rule(
    38,
    'The from object must at least have an email parameter with a valid email address and may also contain a name parameter.',
  ),
  replyToInvalid: rule(
    41,
    'The reply_to object, when used, must at least have an email parameter with a valid email address and may also contain a name parameter.',
  ),
  replyToListInvalid: rule(
    43,
    'The reply_to_list object, when used, must at least have an email parameter and may also contain a name parameter',
  ),
  replyToListTooLong: rule(0, 'The reply_to_list is limited to 1000 addresses.'),
  replyToListTwice: rule(0, 'Each email address in the reply_to_list must be unique.'),
  replyToBoth: rule(44, 'The reply_to and reply_to_list parameters cannot be used together.'),
  fileContentMissing: rule(45, 'The attachment content must be a string at least one character in length.'),
  fileContentInvalid: rule(46, 'The attachment content must be base64 encoded.'),
  fileNameMissing: rule(47, 'The attachment filename is required.'),
  fileNameNotText: rule(48, 'The attachment filename must be a string.'),
  fileNameInvalid: rule(48, "The attachment filename cannot contain ';', ',', or CRLF characters."),
  fileTypeMissing: rule(49, 'The attachment type must be a string at least one character in length.'),
  fileTypeInvalid: rule(49, "The attachment type cannot contain ';', or CRLF characters."),
  fileTypeCharset: rule(0, 'The attachment type cannot have a charset parameter. Other parameters are accepted.'),
  dispositionInvalid: rule(
    50,
    'The disposition of your attachment can be either "inline" or "attachment". You provided {given}.',
  ),
  contentIdMissing: rule(51, "The content_id parameter is required if disposition = 'inline'."),
  contentIdNotText: rule(52, 'The content_id parameter must be a string.'),
  contentIdInvalid: rule(52, "The content_id parameter cannot contain ';', ',', or CRLF characters."),
  groupInvalid: rule(53, 'The ASM group ID must be an integer.'),
  groupUnknown: rule(54, 'The ASM Group ID must be a valid Group ID on your account. You provided {given}.'),
  groupsInvalid: rule(55, 'The ASM groups to display must be an array of integers.'),
  groupsTooMany: rule(55, 'There is a limit of 25 ASM groups to display. You provided {count} groups.'),
  batchInvalid: rule(56, 'The batch_id must be a string.'),
  batchUnknown: rule(0, 'invalid batch id'),
  poolInvalid: rule(57, 'The ip_pool_name must be a string.'),
  poolUnknown: rule(57, 'The ip_pool_name must be a valid pool name.'),
  categoriesTooMany: rule(
    58,
    'There is a limit of 10 categories for each email that is sent. You provided {count} categories.',
  ),
  categoriesInvalid: rule(59, 'Categories must be an array of strings.'),
  categoryTooLong: rule(60, 'Each category must not be longer than 255 characters.'),
  categoryTwice: rule(61, 'Categories must be a unique list, you have included {given} more than once.'),
  categoryNotAscii: rule(62, 'Categories can not contain non-ASCII characters.'),
  sectionInvalid: rule(63, 'The section values must be strings.'),
  mailSettingInvalid: rule(64, 'The {setting} enable param should be a boolean value.'),
  bypassConflict: rule(
    65,
    'bypass_list_management is mutually exclusive with bypass_bounce_management, bypass_spam_management and bypass_unsubscribe_management',
  ),
  footerInvalid: rule(66, 'The {kind} version of your footer should be a string value.'),
  trackingInvalid: rule(69, 'The {setting} {param} param should be a boolean value.'),
  trackingNotText: rule(70, 'The {setting} {param} param should be a string value.'),
} as const satisfies Record<string, Rule>

export type RuleName = keyof typeof RULES

function rule(row: number, sentence: string, anchor?: string | null): Rule {
  return anchor === undefined ? { row, sentence } : { row, sentence, anchor }
}
