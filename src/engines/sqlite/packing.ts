/**
 * Jobs as they go to the writer thread and as they come out there. A text or a plan is sent once and then named by a number:
 * to copy the texts of a large job's statements from thread to thread took a tenth of all that such a job costs.
 */
import { createNumbers } from '#engines/sqlite/numbers.ts'
import type { Sent, SentStatement, SentStep } from '#engines/sqlite/protocol.ts'
import type { ReadPlan } from '#read/plan.ts'
import type { Idempotency, Job, JobStatement, Step } from '#write/job.ts'

type Packed = Pick<Sent, 'steps' | 'idempotency'>

/** The statements of a job with the numbers of their texts. */
const packed = ({ steps, idempotency }: Job, numberOf: (text: string) => number): Packed => {
  const statement = ({ text, values }: JobStatement): SentStatement => [numberOf(text), ...values]
  const step = ({ statement: own, expect, checksViewer = false, explain }: Step): SentStep => [
    statement(own),
    expect,
    checksViewer,
    explain && statement(explain),
  ]
  const keyed = ({ name, fingerprint, reserve, claim, lookup, store }: Idempotency) =>
    [
      name,
      fingerprint,
      statement(reserve),
      claim && statement(claim),
      statement(lookup),
      statement(store),
    ] as const
  return { steps: steps.map(step), idempotency: idempotency && keyed(idempotency) }
}

/** A function that makes of jobs, one after another, what is sent to one writer. */
export const createPacker = (): ((id: number, job: Job) => Sent) => {
  const texts = createNumbers<string>()
  const plans = createNumbers<ReadPlan>()
  return (id, job) => {
    const isAnew = texts.isFull() || plans.isFull()
    if (isAnew) for (const numbers of [texts, plans]) numbers.clear()
    const statements = packed(job, texts.of)
    const answer = job.answer && ([plans.of(job.answer.plan), job.answer.values] as const)
    return {
      id,
      isAnew,
      texts: texts.takeMet(),
      plans: plans.takeMet(),
      ...statements,
      status: job.status,
      text: job.text,
      answer,
    }
  }
}

/** The job of which the packer made this, but for its answer. */
const unpacked = (
  { steps, status, text, idempotency }: Sent,
  texts: readonly string[],
): Omit<Job, 'answer'> => {
  const statement = ([number, ...values]: SentStatement): JobStatement => ({
    text: texts[number] as string,
    values,
  })
  const step = ([own, expect, checksViewer, explain]: SentStep): Step => ({
    statement: statement(own),
    expect,
    checksViewer,
    ...(explain && { explain: statement(explain) }),
  })
  const keyed = ([name, fingerprint, reserve, claim, lookup, store]: NonNullable<
    typeof idempotency
  >) => ({
    name,
    fingerprint,
    reserve: statement(reserve),
    ...(claim && { claim: statement(claim) }),
    lookup: statement(lookup),
    store: statement(store),
  })
  return {
    steps: steps.map(step),
    status,
    ...(text !== undefined && { text }),
    ...(idempotency && { idempotency: keyed(idempotency) }),
  }
}

/** A function that gives the jobs back of which one packer made what it is given, in the same order. */
export const createUnpacker = (): ((sent: Sent) => Job) => {
  const texts: string[] = []
  const plans: ReadPlan[] = []
  return sent => {
    if (sent.isAnew) texts.length = plans.length = 0
    texts.push(...sent.texts)
    plans.push(...sent.plans)
    const [number = 0, values = []] = sent.answer ?? []
    const answer = sent.answer && { plan: plans[number] as ReadPlan, values }
    return { ...unpacked(sent, texts), answer }
  }
}
