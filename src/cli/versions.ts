/** The version of the REST API that a command line names. */
import { UsageError } from '#cli/usage.ts'
import { type Version, versions } from '#model/version.ts'

/** The version of `--version`, the first unless given; throws UsageError for another. */
export const versionOption = (text = String(versions[0])): Version => {
  const version = versions.find(version => String(version) === text)
  if (version) return version
  throw new UsageError(`--version must be ${versions.join(' or ')}, not ${text}`)
}
