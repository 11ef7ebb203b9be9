import { ChartError } from '../chart/chart-error.ts';
import { ReleaseError } from '../release/release-error.ts';
import { RepositoryError } from '../repository/repository-error.ts';
import type { HelmfileRelease } from './release.ts';

/** A message that says which release it is about: several may have one chart. */
export function failureText({ name, namespace }: HelmfileRelease, error: Error): string {
  return `release ${name}${namespace === '' ? '' : ` in ${namespace}`}: ${error.message}`;
}

/** The error with another message and hint, for whoever acts on its class and code; as it is where its class has none. */
export function withMessage(error: Error, message: string, more = ''): Error {
  const options = (hint: string) => ({ cause: error, hint: [hint, more].filter(Boolean).join('; ') });
  if (error instanceof ReleaseError) return new ReleaseError(error.code, message, options(error.hint));
  if (error instanceof ChartError) return new ChartError(error.code, message, options(error.hint));
  if (error instanceof RepositoryError) return new RepositoryError(error.code, message, options(error.hint));
  return error;
}

/** Does something about a release, and names it when that fails. */
export async function naming<T>(release: HelmfileRelease, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw withMessage(error as Error, failureText(release, error as Error));
  }
}
