import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { makeService } from '../helpers/service.ts'

const run = promisify(execFile)

/** The suite of the protocol's makers, from the registry or the file CONFORMANCE. Most of its scenarios ask for example tools of its own; these do not. */
const SUITE = process.env.CONFORMANCE
  ? [process.execPath, process.env.CONFORMANCE]
  : ['npx', '-y', '@modelcontextprotocol/conformance@0.1.16']
const SCENARIOS = ['server-initialize', 'ping', 'tools-list', 'resources-list', 'dns-rebinding-protection'] as const

t.test('the conformance suite of the protocol passes where it asks for no example tools', async (t) => {
  const service = await makeService(t, { MCP: 'on' })
  const { apiKey } = await service.makeSender()
  const url = await startGate(t, await service.openApi(), apiKey)
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  for (const scenario of SCENARIOS) {
    const [program = '', ...args] = [...SUITE, 'server', '--url', `${url}/mcp`, '--scenario', scenario]
    // It ends with another status than 0 if a check fails.
    const { stdout } = await run(program, args, { cwd: folder, timeout: 120_000 })
    t.comment(stdout)
    t.match(stdout, /Passed: [1-9]/, scenario)
  }
})

/** Adds the key to each call, since the suite sends no headers of ours. */
async function startGate(t: Test, base: string, key: string): Promise<string> {
  const gate = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming
    const passed = request(`${base}${url}`, { method, headers: { ...headers, authorization: `Bearer ${key}` } })
    passed.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers)
      response.pipe(outgoing)
    })
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
  t.teardown(() => gate.close())
  return `http://127.0.0.1:${(gate.address() as AddressInfo).port}`
}
