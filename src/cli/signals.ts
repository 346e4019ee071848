/** A command and its process: the signals that ask it to end, and streams that nobody reads any more. */

/** What a shell tells of a program that such a signal ended. */
const exitCodes = { SIGTERM: 143, SIGINT: 130 } as const

type EndingSignal = keyof typeof exitCodes

const endAtOnce = (signal: NodeJS.Signals): void => process.exit(exitCodes[signal as EndingSignal])

/** The signals that ask a program to end. */
export const endingSignals = Object.keys(exitCodes) as readonly EndingSignal[]

/** Lets them end the program in a container too: its first process loses each that it does not handle (pid_namespaces(7)). */
export const endUnlessHandled = (): void => {
  if (process.pid === 1) for (const signal of endingSignals) process.on(signal, endAtOnce)
}

/** Says that a command handles them from now on. */
export const nowHandled = (): void => {
  for (const signal of endingSignals) process.off(signal, endAtOnce)
}

/** Lets the process go on if what it writes there is lost, on a full disk or because nobody reads it any more: Node would end it. */
export const goOnWithout = (stream: NodeJS.WriteStream): void => {
  stream.on('error', () => {})
}
