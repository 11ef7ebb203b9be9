import type { Credential, Credentials } from '../connection.ts';
import { ConfigError, fileProblem } from './config-error.ts';
import type { ReloadingFile } from './reloading-file.ts';

/** A token (or any other `authorization` header) that never changes. */
export function fixedCredentials(authorization: string): Credentials {
  const credential: Credential = { authorization };
  return { current: () => Promise.resolve(credential), refused: () => Promise.resolve(false) };
}

/** A token in a file that is rotated by somebody else. */
export function tokenFileCredentials(file: ReloadingFile): Credentials {
  const read = async (fresh: boolean): Promise<Credential> => {
    let token: string;
    try {
      token = (await file.content({ fresh })).trim();
    } catch (error) {
      throw new ConfigError(`the token file ${fileProblem(error)}`, { file: file.path, cause: error });
    }
    if (token === '') throw new ConfigError('the token file is empty', { file: file.path });
    return { authorization: `Bearer ${token}` };
  };
  return {
    current: () => read(false),
    async refused(credential) {
      const fresh = await read(true);
      return fresh.authorization !== credential.authorization;
    },
  };
}
