import type { Clock } from './clock.ts';
import type { KeyFiles } from './key-files.ts';
import type { CertificateAuthority, KeyAndCertificate } from './tls.ts';

/** The certificates of a cluster with TLS. */
export interface ClusterPki {
  /** PEM. */
  readonly ca: string;
  readonly server: KeyAndCertificate;
  readonly admin: KeyAndCertificate;
}

export interface ClusterPkiOptions {
  readonly clock: Clock;
  readonly host: string;
  /** Where the authority is kept, so that kubeconfigs outlive a restart. Default: a new authority at every start. */
  readonly keyFiles?: KeyFiles;
}

const authorityFile = 'certificate-authority.pem';

export async function createPki(options: ClusterPkiOptions): Promise<ClusterPki> {
  const authority = await authorityOf(options);
  const { serverNames } = await loadTls();
  const server = await authority.issue({ commonName: 'kube-apiserver', ...serverNames(options.host), usage: 'server' });
  const admin = await authority.issue({
    commonName: 'kubernetes-admin',
    organizations: ['system:masters'],
    usage: 'client',
  });
  return { ca: authority.certificate, server, admin };
}

async function authorityOf({ clock, keyFiles }: ClusterPkiOptions): Promise<CertificateAuthority> {
  const { createCertificateAuthority, restoreCertificateAuthority } = await loadTls();
  const kept = keyFiles?.read(authorityFile);
  if (kept !== undefined) {
    return restoreCertificateAuthority(kept, { clock }).catch((cause: unknown) => {
      throw new Error(`${keyFiles!.path(authorityFile)} holds no certificate authority`, { cause });
    });
  }
  const authority = await createCertificateAuthority({ clock });
  keyFiles?.write(authorityFile, await authority.export());
  return authority;
}

/** Loaded only when asked for: most clusters have no TLS, and the library takes longer to load than the cluster to start. */
function loadTls() {
  return import('./tls.ts');
}
