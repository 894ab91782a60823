import { OPERATOR } from '@postrider/core'
import { rowsOf } from '../row.ts'
import type { Stage } from '../stage.ts'
import { fill, kB, MB, many } from '../text.ts'

const create = (stage: Stage, extra: Readonly<Record<string, unknown>>): Promise<string> =>
  stage.call('/v2/template', { body: JSON.stringify({ templateName: 'berth', content: 'x', ...extra }) })

/** Makes an editable template with one version, whose plain text is made of its HTML. */
async function version(
  stage: Stage,
  extra: Readonly<Record<string, unknown>>,
  generation: 'dynamic' | 'legacy' = 'dynamic',
): Promise<string> {
  const made = await editable(stage, extra, generation)
  return made.answer
}

async function editable(
  stage: Stage,
  extra: Readonly<Record<string, unknown>>,
  generation: 'dynamic' | 'legacy' = 'dynamic',
): Promise<{ id: string; answer: string }> {
  const { core, sender } = { core: stage.service.core, sender: stage.sender }
  const { id } = await core.editableTemplates.create({
    accountId: sender.accountId,
    name: `berth ${Math.random()}`,
    generation,
    by: OPERATOR,
  })
  const body = JSON.stringify({ name: 'one', subject: 'Berth', active: 1, html_content: '<p>x</p>', ...extra })
  return { id, answer: await stage.v3(`/templates/${id}/versions`, { body }) }
}

/** A template is made and one mail sent with it. */
async function sent(stage: Stage, html: string, data: unknown = {}, recipients = 1): Promise<string> {
  const { id, answer } = await editable(stage, {
    html_content: html,
    generate_plain_content: false,
    plain_content: 'x',
  })
  if (!answer.startsWith('201')) return answer
  return stage.mail({
    template_id: id,
    content: undefined,
    personalizations: Array.from({ length: recipients }, (_, at) => ({
      to: [{ email: `r${at}@open.example` }],
      dynamic_template_data: data,
    })),
  })
}

const made = (html: () => string) => (stage: Stage) =>
  version(stage, { html_content: html(), generate_plain_content: true })

/** Stored templates: their rules, the plain text made of HTML, parsing and rendering of dynamic ones. */
export const TEMPLATES = rowsOf(
  'api',
  {
    'template: content of 9 MB of merge tags': (stage) => create(stage, { content: fill('[%a%]', 9 * MB) }),
    'template: content of 9 MB of %': (stage) => create(stage, { content: fill('%', 9 * MB) }),
    'template: content of 9 MB of %3C': (stage) => create(stage, { content: fill('%3C', 9 * MB) }),
    'template: 100,000 variables': (stage) =>
      create(stage, { variables: Array.from({ length: 100_000 }, (_, at) => ({ name: `a${at}` })) }),
    'template: a variable with a default of 9 MB of digits': (stage) =>
      create(stage, { variables: [{ name: 'a', type: 'number', default: fill('1', 9 * MB) }] }),
    'template: a name of 28 MB of blanks': (stage) => create(stage, { templateName: `${fill(' ', 28 * MB)}!` }),
    'template: a name of 28 MB': (stage) => create(stage, { templateName: fill('a', 28 * MB) }),
    'template: rendered with 100,000 attributes and 9 MB of tags': async (stage) => {
      const answered = await create(stage, { content: fill('[%A1%] ', 9 * MB), templateName: 'tags' })
      const [row] = await stage.service.sql<{ id: number }[]>`select max(id) as id from templates`
      const attributes = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`a${at}`, 'b']))
      const rendered = await stage.call(`/v2/template/${row?.id}/render`, { body: JSON.stringify({ attributes }) })
      return `${answered}, ${rendered}`
    },
    'plain text of 256 kB of <div>': made(() => fill('<div>', 256 * kB)),
    'plain text of 256 kB of </p>': made(() => fill('</p>', 256 * kB)),
    'plain text of 256 kB of <div></p>': made(() => fill('<div></p>', 256 * kB)),
    'plain text of 256 kB of <ul><li>': made(() => fill('<ul><li>', 256 * kB)),
    'plain text of 256 kB of <table><tr><td>': made(() => fill('<table><tr><td>', 256 * kB)),
    'plain text of 256 kB of <li> in one list': made(() => `<ol>${fill('<li>a', 250 * kB)}</ol>`),
    'plain text of 256 kB of <h1>': made(() => fill('<h1>ab', 256 * kB)),
    'plain text of 256 kB of <a href=>': made(() => fill('<a href="x">', 256 * kB)),
    'plain text of 256 kB of <blockquote>': made(() => fill('<blockquote>', 256 * kB)),
    'plain text of 256 kB of <pre>': made(() => fill('<pre>\n', 256 * kB)),
    'plain text of 256 kB of <br>': made(() => fill('<br>', 256 * kB)),
    'plain text of 256 kB of blanks': made(() => `a${fill(' ', 255 * kB)}b`),
    'plain text of 256 kB of entities': made(() => fill('&CounterClockwiseContourIntegral;', 256 * kB)),
    'plain text of 256 kB of &': made(() => fill('&', 256 * kB)),
    'plain text of 256 kB of <': made(() => fill('<', 256 * kB)),
    'plain text of 256 kB of <!--': made(() => fill('<!--', 256 * kB)),
    'plain text of 256 kB of one tag with attributes': made(() => `<p ${fill('a ', 255 * kB)}>`),
    'plain text of 256 kB of <b><p>': made(() => fill('<b><p>', 256 * kB)),
    'plain text of 256 kB of <svg><math>': made(() => fill('<svg><math>', 256 * kB)),
    'plain text of 256 kB of <select><option>': made(() => fill('<select><option>', 256 * kB)),
    'test data of 1 MB of brackets': (stage) =>
      version(stage, { test_data: `${'['.repeat(500 * kB)}${']'.repeat(500 * kB)}` }),
    'dynamic: 9 MB of {{': (stage) =>
      version(stage, { html_content: fill('{{', 9 * MB), generate_plain_content: false }),
    'dynamic: 9 MB of {{a}}': (stage) => sent(stage, fill('{{a}}', 9 * MB), { a: 1 }),
    'dynamic: 9 MB of {{!--': (stage) => sent(stage, fill('{{!--', 9 * MB)),
    'dynamic: 9 MB of {{#if a}}': (stage) => sent(stage, fill('{{#if a}}', 9 * MB)),
    'dynamic: 1 MB of nested {{#if a}}': (stage) =>
      sent(stage, `${'{{#if a}}'.repeat(50_000)}${'{{/if}}'.repeat(50_000)}`, { a: 1 }),
    'dynamic: 1 MB of {{a.a.a': (stage) => sent(stage, `{{${fill('a.', MB)}a}}`, { a: {} }),
    'dynamic: 1 MB of ((((': (stage) => sent(stage, `{{#if ${fill('(and ', MB)}}}`, {}),
    'dynamic: one text of 9 MB in a tag': (stage) => sent(stage, `{{insert a "${fill('\\"', 9 * MB)}"}}`, {}),
    'dynamic: {{{{ and }}}} of 5 MB': (stage) => sent(stage, fill('{{{{a}}}}', 5 * MB), {}),
    'dynamic: 5 MB of blank lines before blocks': (stage) =>
      sent(stage, fill('   \n{{#if a}}\n   {{/if}}  ', 5 * MB), { a: 1 }),
    'dynamic: loops in loops': (stage) =>
      sent(stage, `${many(6, () => '{{#each @root.l}}')}x${many(6, () => '{{/each}}')}`, { l: Array(100).fill(1) }, 50),
    'dynamic: loops of 10 MB of output': (stage) =>
      sent(stage, `{{#each l}}${fill('All berths are taken. ', 90 * kB)}{{/each}}`, { l: Array(100).fill(1) }, 20),
    'dynamic: dates in a format of 1 MB': (stage) =>
      sent(stage, `{{formatDate a "${fill('dddd MMMM ZZ', MB)}"}}`, { a: '2026-11-22T00:00:00Z' }),
    'dynamic: a date of 1 MB of digits': (stage) => sent(stage, '{{formatDate a "YYYY"}}', { a: fill('1', MB) }),
    'dynamic: data of 14 MB of quotes and one wide letter': (stage) =>
      sent(stage, '{{b}}', { a: `\u20ac${fill('"', 14 * MB)}` }),
    'dynamic: data of 400,000 values for a small template': (stage) =>
      sent(stage, '{{a}}', { l: Array(400_000).fill(1) }),
    'dynamic: 1,000 recipients with 2 kB of HTML': (stage) => sent(stage, fill('{{a}} ', 2 * kB), { a: 'b' }, 1000),
  },
  ['plain text of 256 kB of <div></p>', 'plain text of 256 kB of <ul><li>', 'dynamic: 9 MB of {{'],
)
