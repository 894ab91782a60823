import { OPERATOR } from '@postrider/core'
import { makeMember, PASSWORD } from '../../core/people/people.ts'
import { sessionCookieOf, submit } from '../../dashboard/dashboard.ts'
import { rowsOf } from '../row.ts'
import type { Stage } from '../stage.ts'
import { fill, kB, MB } from '../text.ts'

type Get = (path: string) => Promise<number>

const visitors = new WeakMap<Stage, Promise<Get>>()

/** An owner of the hostile account who is logged in. */
function visitorOf(stage: Stage): Promise<Get> {
  const known = visitors.get(stage) ?? logIn(stage)
  visitors.set(stage, known)
  return known
}

async function logIn({ service, sender: { accountId } }: Stage): Promise<Get> {
  const url = `http://127.0.0.1:${service.config.apiPort}`
  const { email } = await makeMember(service, accountId, 'owner')
  const cookie = sessionCookieOf(await submit(url, '/app/login', { email, password: PASSWORD }))
  return async (path) => {
    const response = await fetch(`${url}/app/${accountId}${path}`, { headers: { cookie } })
    await response.arrayBuffer()
    return response.status
  }
}

/** Pages of the account, one after another. */
async function shown(stage: Stage, paths: readonly string[]): Promise<string> {
  const get = await visitorOf(stage)
  const statuses: number[] = []
  for (const path of paths) statuses.push(await get(path))
  return `pages ${statuses.join(' ')}`
}

/** A template of v2, its page and its preview. */
const merge = (content: () => string) => async (stage: Stage) => {
  const { core } = stage.service
  const text = content()
  stage.octets += text.length
  const act = { accountId: stage.sender.accountId, by: OPERATOR }
  const { id } = await core.templates.create({ ...act, name: `t${Math.random()}`, content: text, subject: 'Berth' })
  return shown(stage, [`/templates/${id}`, `/templates/${id}/versions/1/preview`])
}

interface Texts {
  readonly html: string
  readonly plain?: string
  readonly testData?: string
}

/** A dynamic template with two versions, its page, its preview, and what differs. */
const dynamic = (make: () => Texts) => async (stage: Stage) => {
  const { core } = stage.service
  const act = { accountId: stage.sender.accountId, by: OPERATOR }
  const { id } = await core.editableTemplates.create({ ...act, name: `t${Math.random()}`, generation: 'dynamic' })
  const texts = make()
  stage.octets += texts.html.length
  const change = { generatePlain: false, subject: 'Berth', ...texts }
  const one = await core.editableTemplates.addVersion({ ...act, id }, { name: 'one', ...change })
  const other = { ...change, html: texts.html.replaceAll('a', 'b') }
  const two = await core.editableTemplates.addVersion({ ...act, id }, { name: 'two', ...other })
  const at = `/templates/${id}`
  return shown(stage, [at, `${at}/versions/${one.id}/preview`, `${at}/compare?from=${one.id}&to=${two.id}`])
}

/** As many versions as an account may have. */
async function manyVersions({ service: { sql }, sender: { accountId } }: Stage): Promise<void> {
  await sql`
    insert into editable_templates (account_id, id, generation, name)
    select ${accountId}, 'd-' || md5(n::text), 'dynamic', 'berth ' || n from generate_series(1, 50) n on conflict do nothing`
  await sql`
    insert into editable_versions (account_id, template_id, id, active, name, subject, html, plain, generate_plain, editor)
    select ${accountId}, 'd-' || md5(n::text), gen_random_uuid(), v = 1, repeat('n', 100), repeat('s', 250), '<p>x</p>', 'x', true, 'code'
      from generate_series(1, 50) n, generate_series(1, 200) v
     where not exists (select from editable_versions where account_id = ${accountId} and name = repeat('n', 100))`
}

/** Pages of the dashboard that show what an account has stored. */
export const PAGES = rowsOf(
  'api',
  {
    'page: a template of 9 MB of <': merge(() => fill('<', 9 * MB)),
    'page: a template of 9 MB of "': merge(() => fill('"', 9 * MB)),
    'page: a template of 9 MB of merge tags': merge(() => fill('[%a%]', 9 * MB)),
    'page: a template of 600 kB of <': merge(() => fill('<', 600 * kB)),
    'page: a dynamic template of 9 MB of <a>': dynamic(() => ({ html: fill('<a>', 9 * MB) })),
    'page: a dynamic template of 9 MB of lines': dynamic(() => ({ html: fill('a\n', 9 * MB) })),
    'page: a dynamic template with test data of 1 MB of numbers': dynamic(() => ({
      html: '<a>{{a}}',
      testData: `{"a":[${fill('1,', 900 * kB)}1]}`,
    })),
    'page: the templates of an account with 10,000 versions': async (stage) => {
      await manyVersions(stage)
      return shown(stage, ['/templates'])
    },
    'v3 templates: all 10,000 versions of an account': async (stage) => {
      await manyVersions(stage)
      return stage.v3('/templates?generations=dynamic', { method: 'GET' })
    },
  },
  ['page: a template of 9 MB of <', 'page: the templates of an account with 10,000 versions'],
)
