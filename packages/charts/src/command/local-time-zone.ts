import { readlinkSync } from 'node:fs';

const isUniversal = (zone: string) => /^(?:(?:Etc\/)?(?:UTC|UCT|Universal|Zulu))?$/.test(zone);

/**
 * How to find out which zone Go calls `Local`: that of TZ, else the machine's, and UTC where there is no such zone. Most machines that
 * render charts have UTC, which is told without Intl: Node would load what it knows of all languages, longer than many a chart takes.
 */
export function localTimeZone(env: Readonly<Record<string, string | undefined>>): () => string {
  return () => {
    const zone = (env['TZ'] ?? machineZone())?.replace(/^:?(?:\/.*\/zoneinfo\/)?/, '');
    if (zone === undefined) return Intl.DateTimeFormat().resolvedOptions().timeZone;
    return isUniversal(zone) || !isZone(zone) ? 'UTC' : zone;
  };
}

/** The file of the machine's zone, which is a link nearly everywhere. */
function machineZone(): string | undefined {
  try {
    return readlinkSync('/etc/localtime').replace(/^.*\/zoneinfo\//, '');
  } catch {
    return undefined;
  }
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
