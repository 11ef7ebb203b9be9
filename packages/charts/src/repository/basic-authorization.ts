import type { RepositoryCredentials } from './docker-credentials.ts';

/** The `authorization` header of HTTP basic authentication. */
export function basicAuthorization({ username, password }: RepositoryCredentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
