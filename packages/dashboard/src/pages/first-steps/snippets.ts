import { shellQuoted } from '../../frame/shell-quoted.ts'

/** Programs that send one message, by the way they are chosen on the page. */
export const SNIPPETS = ['curl', 'Node', 'Python', 'PHP', 'Go', 'SMTP', 'nodemailer', 'SendGrid'] as const
export type SnippetName = (typeof SNIPPETS)[number]

export interface SnippetFacts {
  /** Base URL of the Web API. */
  readonly url: string
  readonly from: string
  readonly to: string
  readonly relayHost: string
  readonly relayPort: number
}

const SUBJECT = 'My first message'
const KEY = 'YOUR_KEY'

/** Returns a program that can be pasted and run; only the key is missing. */
export function snippet(name: SnippetName, facts: SnippetFacts): string {
  const { url, from, to, relayHost, relayPort } = facts
  const message = {
    personalizations: [{ recipient: to }],
    from: { fromEmail: from, fromName: 'Demo' },
    subject: SUBJECT,
    content: '<p>It works.</p>',
  }
  const json = JSON.stringify(message, null, 2)
  switch (name) {
    case 'curl':
      return `curl -s ${shellQuoted(`${url}/v2/sendEmail`)} \\
  -H 'api_key: ${KEY}' -H 'content-type: application/json' \\
  -d ${shellQuoted(JSON.stringify(message))}`
    case 'Node':
      return `const response = await fetch('${url}/v2/sendEmail', {
  method: 'POST',
  headers: { api_key: '${KEY}', 'content-type': 'application/json' },
  body: JSON.stringify(${indented(json, 2)}),
})
console.log(await response.json())`
    case 'Python':
      return `import json, urllib.request

request = urllib.request.Request(
    "${url}/v2/sendEmail",
    json.dumps(${indented(json, 4)}).encode(),
    {"api_key": "${KEY}", "content-type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())`
    case 'PHP':
      return `<?php
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => "api_key: ${KEY}\\r\\ncontent-type: application/json",
    'content' => json_encode([
        'personalizations' => [['recipient' => '${to}']],
        'from' => ['fromEmail' => '${from}', 'fromName' => 'Demo'],
        'subject' => '${SUBJECT}',
        'content' => '<p>It works.</p>',
    ]),
]]);
echo file_get_contents('${url}/v2/sendEmail', false, $context);`
    case 'Go':
      return `package main

import ("fmt"; "io"; "net/http"; "strings")

func main() {
	body := \`${JSON.stringify(message)}\`
	request, _ := http.NewRequest("POST", "${url}/v2/sendEmail", strings.NewReader(body))
	request.Header.Set("api_key", "${KEY}")
	request.Header.Set("content-type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil { panic(err) }
	answer, _ := io.ReadAll(response.Body)
	fmt.Println(string(answer))
}`
    case 'SMTP':
      return `printf 'From: ${from}\\r\\nTo: ${to}\\r\\nSubject: ${SUBJECT}\\r\\n\\r\\nIt works.\\r\\n' |
  curl -sk --ssl-reqd smtp://${relayHost}:${relayPort} -u 'apikey:${KEY}' \\
    --mail-from ${from} --mail-rcpt ${to} -T -`
    case 'nodemailer':
      return `import nodemailer from 'nodemailer'

const transport = nodemailer.createTransport({
  host: '${relayHost}', port: ${relayPort},
  auth: { user: 'apikey', pass: '${KEY}' },
  tls: { rejectUnauthorized: false }, // the certificate of the first start is self-signed
})
await transport.sendMail({ from: '${from}', to: '${to}', subject: '${SUBJECT}', text: 'It works.' })`
    case 'SendGrid':
      return `import client from '@sendgrid/client'
import mail from '@sendgrid/mail'

client.setApiKey('${KEY}')
client.setDefaultRequest('baseUrl', '${url}/')
mail.setClient(client)
await mail.send({ from: '${from}', to: '${to}', subject: '${SUBJECT}', text: 'It works.' })`
  }
}

function indented(text: string, by: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(by)}`)
}
