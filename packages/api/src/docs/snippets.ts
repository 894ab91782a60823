/** A call, for examples. */
export interface ExampleCall {
  readonly method: string
  /** With the query. */
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** JSON of the body; undefined: none. */
  readonly json?: unknown
  /** A file that is the body, and its type. */
  readonly file?: readonly [name: string, type: string]
}

export interface Snippet {
  /** For ids and classes. */
  readonly id: string
  readonly language: string
  readonly code: string
}

/** Returns the call in each language that the documentation shows. Every text is escaped for its language. */
export function snippetsOf(call: ExampleCall): readonly Snippet[] {
  return [
    { id: 'curl', language: 'curl', code: curl(call) },
    { id: 'node', language: 'Node.js', code: node(call) },
    { id: 'python', language: 'Python', code: python(call) },
    { id: 'php', language: 'PHP', code: php(call) },
    { id: 'go', language: 'Go', code: go(call) },
    { id: 'ruby', language: 'Ruby', code: ruby(call) },
  ]
}

const JSON_TYPE = ['content-type', 'application/json'] as const

function headersOf({ headers, json, file }: ExampleCall) {
  return [...headers, ...(json === undefined ? [] : [JSON_TYPE]), ...(file ? [['content-type', file[1]] as const] : [])]
}

const indented = (text: string, by: string) => text.replaceAll('\n', `\n${by}`)

function curl(call: ExampleCall): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const { method, url, json, file } = call
  const hasBody = json !== undefined || file !== undefined
  const lines = [
    `curl -s ${quoted(url)}`,
    ...(method === (hasBody ? 'POST' : 'GET') ? [] : [`-X ${method}`]),
    ...headersOf(call).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(json === undefined ? [] : [`-d ${quoted(JSON.stringify(json, null, 2))}`]),
    ...(file ? [`--data-binary @${file[0]}`] : []),
  ]
  return lines.join(' \\\n  ')
}

function node(call: ExampleCall): string {
  const { method, url, json, file } = call
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const headers = headersOf(call).map(([name, value]) => `    ${quoted(name)}: ${quoted(value)},\n`)
  const body =
    json !== undefined
      ? `  body: JSON.stringify(${indented(JSON.stringify(json, null, 2), '  ')}),\n`
      : file
        ? `  body: await readFile(${quoted(file[0])}),\n`
        : ''
  const opening = file ? "import { readFile } from 'node:fs/promises'\n\n" : ''
  return `${opening}const response = await fetch(${quoted(url)}, {
  method: ${quoted(method)},
  headers: {
${headers.join('')}  },
${body}})
console.log(response.status, await response.text())`
}

function python(call: ExampleCall): string {
  const { method, url, headers, json, file } = call
  const named = [...headers, ...(file ? [['content-type', file[1]] as const] : [])]
  const body =
    json !== undefined
      ? `    json=${indented(pythonLiteral(json), '    ')},\n`
      : file
        ? `    data=open(${JSON.stringify(file[0])}, "rb"),\n`
        : ''
  return `import requests

response = requests.${method.toLowerCase()}(
    ${JSON.stringify(url)},
    headers={
${named.map(([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`).join('')}    },
${body})
print(response.status_code, response.text)`
}

function pythonLiteral(value: unknown, by = ''): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${by}  `
  const rows = Array.isArray(value)
    ? value.map((one) => `${inner}${pythonLiteral(one, inner)}`)
    : Object.entries(value).map(([key, one]) => `${inner}${JSON.stringify(key)}: ${pythonLiteral(one, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return rows.length === 0 ? `${open}${close}` : `${open}\n${rows.join(',\n')},\n${by}${close}`
}

function php(call: ExampleCall): string {
  const { method, url, json, file } = call
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const body =
    json !== undefined
      ? `    CURLOPT_POSTFIELDS => <<<'JSON'\n${JSON.stringify(json, null, 2)}\nJSON,\n`
      : file
        ? `    CURLOPT_POSTFIELDS => file_get_contents(${quoted(file[0])}),\n`
        : ''
  return `<?php
$call = curl_init(${quoted(url)});
curl_setopt_array($call, [
    CURLOPT_CUSTOMREQUEST => ${quoted(method)},
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
${headersOf(call)
  .map(([name, value]) => `        ${quoted(`${name}: ${value}`)},\n`)
  .join('')}    ],
${body}]);
echo curl_exec($call);`
}

function go(call: ExampleCall): string {
  const { method, url, json, file } = call
  const text = json === undefined ? '' : JSON.stringify(json, null, 2)
  // A raw string cannot contain its own quote.
  const literal = text.includes('`') ? JSON.stringify(JSON.stringify(json)) : `\`${text}\``
  const body = json !== undefined ? 'body' : file ? 'file' : 'nil'
  const opening =
    json !== undefined
      ? `\tbody := strings.NewReader(${literal})\n`
      : file
        ? `\tfile, err := os.Open(${JSON.stringify(file[0])})\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n`
        : ''
  const imports = ['"fmt"', '"io"', '"log"', '"net/http"', ...(file ? ['"os"'] : []), ...(json ? ['"strings"'] : [])]
  return `package main

import (
${imports.map((name) => `\t${name}\n`).join('')})

func main() {
${opening}\trequest, err := http.NewRequest(${JSON.stringify(method)}, ${JSON.stringify(url)}, ${body})
\tif err != nil {
\t\tlog.Fatal(err)
\t}
${headersOf(call)
  .map(([name, value]) => `\trequest.Header.Set(${JSON.stringify(name)}, ${JSON.stringify(value)})\n`)
  .join('')}\tresponse, err := http.DefaultClient.Do(request)
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tdefer response.Body.Close()
\tanswer, _ := io.ReadAll(response.Body)
\tfmt.Println(response.Status, string(answer))
}`
}

function ruby(call: ExampleCall): string {
  const { method, url, json, file } = call
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const kind = `${method.slice(0, 1)}${method.slice(1).toLowerCase()}`
  // In a quoted heredoc nothing is replaced.
  const body =
    json !== undefined
      ? `request.body = <<~'JSON'\n  ${indented(JSON.stringify(json, null, 2), '  ')}\nJSON\n`
      : file
        ? `request.body = File.binread(${quoted(file[0])})\n`
        : ''
  return `require 'net/http'

uri = URI(${quoted(url)})
request = Net::HTTP::${kind}.new(uri)
${headersOf(call)
  .map(([name, value]) => `request[${quoted(name)}] = ${quoted(value)}\n`)
  .join(
    '',
  )}${body}response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == 'https') { |http| http.request(request) }
puts response.code, response.body`
}
