#!/usr/bin/env node
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { Postrider } from '../postrider.ts'
import { differences, readTemplates, type TypedTemplate, typesOf } from '../template-types.ts'

const HELP = `Usage: postrider-types [--out FILE] [--check]

Writes the attributes of the account's templates as TypeScript, so that a mail that lacks one does not compile.

  --out FILE   the file; src/postrider-templates.ts unless given
  --check      changes nothing: the exit status is 1 if the file differs from the templates, and what differs is shown
  --help       shows this text

Environment: POSTRIDER_URL, the address of the installation, and POSTRIDER_API_KEY, a key with the scope templates.
The exit status is 0 if the file is as the templates are, 1 if not or if they could not be read, 2 if the command line is invalid.
`

class UsageError extends Error {}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`postrider-types: ${error.message}\n`)
  return error instanceof UsageError ? 2 : 1
})

async function main(): Promise<number> {
  const { out, check, help } = optionsOf(process.argv.slice(2))
  if (help) {
    process.stdout.write(HELP)
    return 0
  }
  const postrider = new Postrider({ baseUrl: variable('POSTRIDER_URL'), apiKey: variable('POSTRIDER_API_KEY') })
  const templates: TypedTemplate[] = []
  for await (const template of readTemplates(postrider.templates)) {
    templates.push(template)
    if (process.stderr.isTTY) process.stderr.write(`\r${templates.length} templates read `)
  }
  if (process.stderr.isTTY) process.stderr.write('\n')
  const text = typesOf(templates)
  const before = await readFile(out, 'utf8').catch(unlessMissing)
  const differing = before === undefined ? [`${out} does not exist`] : differences(before, text)
  if (!check) {
    if (before === undefined || differing.length > 0) await writeFile(out, text)
    process.stdout.write(`${out}: ${templates.length} templates${differing.length > 0 ? '' : ', unchanged'}\n`)
    return 0
  }
  if (differing.length === 0) return 0
  process.stdout.write(`${differing.join('\n')}\n`)
  process.stderr.write(`${out} differs from the templates. To write it, run: postrider-types --out ${out}\n`)
  return 1
}

function optionsOf(args: string[]) {
  const [out, check, help] = [
    { type: 'string', default: 'src/postrider-templates.ts' },
    { type: 'boolean' },
    { type: 'boolean' },
  ] as const
  try {
    return parseArgs({ args, options: { out, check, help } }).values
  } catch (error) {
    throw new UsageError(`${(error as Error).message} See postrider-types --help.`)
  }
}

function variable(name: string): string {
  const value = process.env[name]
  if (!value) throw new UsageError(`the environment variable ${name} is missing. See postrider-types --help.`)
  return value
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
