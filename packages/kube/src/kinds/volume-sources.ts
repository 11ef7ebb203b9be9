import type { Open } from './meta-types.ts';

/** Storage that comes with Kubernetes itself; most of it is old, and CSI drivers took its place. */
export interface VolumeSources {
  awsElasticBlockStore?: Open;
  azureDisk?: Open;
  azureFile?: Open;
  cephfs?: Open;
  cinder?: Open;
  fc?: Open;
  flexVolume?: Open;
  flocker?: Open;
  gcePersistentDisk?: Open;
  glusterfs?: Open;
  iscsi?: Open;
  nfs?: { server: string; path: string; readOnly?: boolean };
  photonPersistentDisk?: Open;
  portworxVolume?: Open;
  quobyte?: Open;
  rbd?: Open;
  scaleIO?: Open;
  storageos?: Open;
  vsphereVolume?: Open;
}
