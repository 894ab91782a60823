/** An operation of v2 that agents can use as a tool. Its name, schema, scope and summary are those of the operation. */
export interface ToolRow {
  /** The name of the operation. */
  readonly operation: string
  /** Further sentences for the model, after the summary. */
  readonly about?: string
  /** It changes nothing, although the operation has no GET. */
  readonly reads?: true
  /** It is confirmed before it is done, as all that sends or deletes is. */
  readonly asks?: true
  /** The fields of the answer that others than the account may have written: recipients, their servers, receivers of webhooks. */
  readonly foreign?: string
}

const SEARCHED = 'recipient, subject, reply, text'
const REPLIES = 'recipient, reply, text, detail, bounce, conversation, returns'

/** All tools: two dozen that answer what people ask about mail, not every operation. */
export const TOOL_LIST: readonly ToolRow[] = [
  {
    operation: 'checkEmail',
    about: 'The dry run of send_email',
    reads: true,
  },
  {
    operation: 'sendEmail',
    about:
      'from.fromEmail is on an active domain of the account. Each entry of personalizations is one recipient: {"recipient": "lena@example.com", ' +
      '"attributes": {"NAME": "Lena"}}. content is HTML, textcontent plain text; [%NAME%] in them is replaced by an attribute. Without content, ' +
      'templateId names a stored template',
  },
  {
    operation: 'listMessages',
    about: 'Find a message first with this, then explain it with show_message',
    foreign: SEARCHED,
  },
  {
    operation: 'showMessage',
    about: 'Says why a message is late (waitingFor, text, expected) and why it bounced (bounce, attempts, replies)',
    foreign: REPLIES,
  },
  { operation: 'explainDelivery', foreign: REPLIES },
  { operation: 'messageBody', foreign: 'html, text, source, headers, attachments' },
  { operation: 'listEvents', foreign: 'email, subject, remarks' },
  { operation: 'resend' },
  { operation: 'cancelMessage', asks: true },
  { operation: 'tryNow' },
  { operation: 'listDomains', about: 'With the DNS records to publish and what was found of each' },
  { operation: 'addDomain' },
  { operation: 'verifyDomain', about: 'Shows what to publish where a record is missing or wrong' },
  { operation: 'showDmarc', foreign: 'reporters' },
  { operation: 'listTemplates' },
  { operation: 'viewTemplate' },
  { operation: 'renderTemplate', reads: true },
  { operation: 'checkSuppression', foreign: 'reason' },
  { operation: 'listSuppressions', foreign: 'reason' },
  { operation: 'addSuppression' },
  { operation: 'removeSuppression', about: 'Mail goes to these addresses again, also if they unsubscribed' },
  { operation: 'getStats' },
  { operation: 'listTags' },
  { operation: 'getTagSums' },
  { operation: 'listWebhooks' },
  { operation: 'listWebhookDeliveries', foreign: 'problem' },
  { operation: 'showWebhookDelivery', foreign: 'body, answerHeaders, answer' },
  { operation: 'listWebhookFailures', foreign: 'problem' },
  { operation: 'redeliverWebhookFailures', asks: true },
  { operation: 'showAccount' },
  { operation: 'showKey', about: 'What the key of this connection may do' },
  { operation: 'listAudit', foreign: 'agent, before, after' },
]
