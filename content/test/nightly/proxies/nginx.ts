/** An nginx before a service of a test, which keeps its connections to it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { guarded, installed } from '#test/support/guard.ts'
import { freePort, listening } from '#test/support/ports.ts'

const program = installed('nginx')

/** Why there is no nginx here, for a test that needs one to skip with; false if there is. */
export const noNginx: string | false =
  program === undefined && 'NOT TESTED: nginx is not installed: apt-get install nginx-light'

const configuration = (port: number, target: number) => `
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr crit;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  upstream service { server 127.0.0.1:${target}; keepalive 8; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}`

/** Starts one before the service on this port. */
export const startNginx = async (target: number) => {
  if (program === undefined) throw new Error(String(noNginx))
  const guard = guarded('nginx', 'TERM')
  const port = await freePort()
  const file = join(guard.folder, 'nginx.conf')
  writeFileSync(file, configuration(port, target))
  const running = guard.run(program, ['-p', guard.folder, '-e', 'stderr', '-c', file])
  await listening(running, port).catch(async error => {
    await guard.end()
    throw error
  })
  return { port, end: guard.end }
}
