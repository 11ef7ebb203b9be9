export interface Mount {
  /** A file or folder of the machine. */
  source: string;
  /** Where the container has it. */
  target: string;
  readOnly?: boolean;
}

export interface ContainerRoot {
  /** Folder of the container; its root and the layer above the machine's files are made in it. */
  folder: string;
  mounts: readonly Mount[];
  workingDir: string;
  /** File systems of the machine beside its root. */
  otherFileSystems: readonly string[];
}

// A file needs a file to be bound to, a folder needs a folder.
const bind = `bind() {
  if [ -d "$1" ]; then mkdir -p "$2"; else mkdir -p "$(dirname "$2")"; [ -e "$2" ] || : >"$2"; fi
  mount --bind "$1" "$2"
  if [ "$3" = ro ]; then mount -o remount,bind,ro "$2"; fi
}`;

/**
 * Shell script that gives its process a root of its own and then becomes the command in its arguments. The root is what the
 * machine has, under a layer in memory that takes what the container writes. Run it in a mount namespace of its
 * own, with a pipe as file descriptor 3, which is closed when everything is prepared.
 */
export function containerRootScript({ folder, mounts, workingDir, otherFileSystems }: ContainerRoot): string {
  const [root, layers] = [`${folder}/root`, `${folder}/layers`];
  const ordered = mounts.toSorted((a, b) => a.target.length - b.target.length);
  const inside = [
    bind,
    ...ordered.map(({ target, readOnly }, at) => `bind /.mounts/${at} ${quoted(target)} ${readOnly ? 'ro' : 'rw'}`),
    `cd ${quoted(workingDir)}`,
    // The other end of this pipe learns that from here on signals are for the program.
    'exec 3>&-',
    'exec "$@"',
  ];
  const outside = [
    bind,
    'mount --make-rprivate /',
    `mkdir -p ${quoted(root)} ${quoted(layers)}`,
    // A file system of its own, because a layer may not lie inside what it covers.
    `mount -t tmpfs tmpfs ${quoted(layers)}`,
    `mkdir ${quoted(`${layers}/upper`)} ${quoted(`${layers}/work`)}`,
    `mount -t overlay overlay -o ${quoted(`lowerdir=/,upperdir=${layers}/upper,workdir=${layers}/work`)} ${quoted(root)}`,
    ...['/proc', '/sys', '/dev', ...otherFileSystems].map(
      (path) => `mount --rbind ${quoted(path)} ${quoted(root + path)}`,
    ),
    ...ordered.map(({ source }, at) => `bind ${quoted(source)} ${quoted(`${root}/.mounts/${at}`)} rw`),
    // The rest from inside: a link such as /var/run must lead to the container's folders, not to the machine's.
    `exec chroot ${quoted(root)} /bin/sh -ec ${quoted(inside.join('\n'))} container "$@"`,
  ];
  return outside.join('\n');
}

/** Those among the lines of `/proc/self/mounts` that a container needs beside the root: the topmost ones. */
export function otherFileSystems(mounts: string): string[] {
  const targets = mounts
    .split('\n')
    .map((line) => line.split(' ')[1]?.replaceAll('\\040', ' '))
    .filter((target): target is string => target !== undefined && !/^\/(proc|sys|dev|run\/netns)?(\/|$)/.test(target));
  const all = [...new Set(targets)];
  return all.filter((target) => !all.some((other) => target.startsWith(`${other}/`)));
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
