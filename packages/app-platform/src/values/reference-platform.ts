import { join } from 'node:path';

/** The platform that is used where none is named. */
export const referencePlatform = join(import.meta.dirname, '..', '..', 'platform');
