/** The signals that ask a program to end, until a command handles them itself. */

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
