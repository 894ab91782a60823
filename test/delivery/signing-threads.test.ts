import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'

t.test('the threads of a worker that sign yield a busy processor to its loop', async (t) => {
  const service = await makeService(t)
  const worker = await startProcess(t, 'delivery', service.env)
  const threads = readdirSync(`/proc/${worker.pid}/task`).map((task) => {
    const folder = `/proc/${worker.pid}/task/${task}`
    // The nice value is field 19 of proc(5); the name before the bracket may hold blanks.
    const fields = readFileSync(`${folder}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return { name: readFileSync(`${folder}/comm`, 'utf8').trim(), nice: Number(fields[16]) }
  })
  const own = Number(threads.find(({ name }) => !/worker/i.test(name))?.nice)
  const signing = threads.filter(({ name }) => name === 'libuv-worker')
  t.ok(signing.length > 0)
  for (const { nice } of signing) t.equal(nice, Math.max(own, 15))
  t.ok(
    threads.filter(({ name }) => name !== 'libuv-worker').every(({ nice }) => nice === own),
    'no other one',
  )
})
