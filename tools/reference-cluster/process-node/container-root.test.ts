import { describe, expect, it } from 'vitest';
import { containerRootScript, otherFileSystems } from './container-root.ts';

describe('the root of a container', () => {
  it('mounts a folder before what lies inside it', () => {
    const script = containerRootScript({
      folder: '/f',
      workingDir: '/',
      otherFileSystems: [],
      mounts: [
        { source: '/inner', target: '/data/inner' },
        { source: '/outer', target: '/data', readOnly: true },
      ],
    });
    expect(script.indexOf("bind '/outer' '/f/root/.mounts/0'")).toBeGreaterThan(0);
    expect(script.indexOf("bind '/inner' '/f/root/.mounts/1'")).toBeGreaterThan(0);
  });

  it('takes a quote in a path for what it is', () => {
    const script = containerRootScript({ folder: "/it's", workingDir: '/', otherFileSystems: [], mounts: [] });
    expect(script).toContain(`'/it'\\''s/root'`);
  });

  it('needs the topmost file systems of the machine beside its root, but not those of the kernel', () => {
    const mounts = [
      'proc /proc proc rw 0 0',
      '/dev/vda / ext4 rw 0 0',
      'shm /dev/shm tmpfs rw 0 0',
      '/dev/vdb /home ext4 rw 0 0',
      '/dev/vdc /home/me/my\\040files ext4 rw 0 0',
      'tmpfs /developer tmpfs rw 0 0',
    ].join('\n');
    expect(otherFileSystems(mounts)).toEqual(['/home', '/developer']);
  });
});
