import { createLogger, systemClock } from '@stak/kit';
import { Hono } from 'hono';
import { z } from 'zod';
import { createApi, createMemoryRateLimits, endpoint, json, route } from '../src/index.ts';
const read = route({ method:'get', path:'/v1/things/{id}', auth:'account', scope:'read', summary:'', request:{ params: z.strictObject({ id: z.string() }) }, responses:{ 200: json(z.strictObject({ id: z.string() })) } });
const pub = route({ method:'get', path:'/const', auth:'public', summary:'', limits:{rate:false}, responses:{ 200: json(z.strictObject({ id: z.string() })) } });
const p = { kind:'account', accountId:'a', scope:'read', via:'api_key', credentialId:'k' } as const;
const api = createApi({ info:{title:'',version:''}, endpoints:[endpoint(read, c => c.json({ id: c.req.valid('param').id },200)), endpoint(pub, c=>c.json({id:'x'},200))], authenticate: async () => p, clock: systemClock, log: createLogger({level:'silent'}), rateLimits:{ store: createMemoryRateLimits(), perPrincipal:{name:'p',limit:1e9,windowMs:1000} } });
const bare = new Hono().get('/const', c => c.json({ id:'x' }));
import { createAdaptorServer } from '@hono/node-server';
import http from 'node:http';
const agent = new http.Agent({ keepAlive:true, maxSockets: 16 });
async function run(name, fetchFn, path, n){
  const s = createAdaptorServer({ fetch: fetchFn }); await new Promise(r=>s.listen(0,'127.0.0.1',r)); const port=s.address().port;
  const one=()=>new Promise<void>(r=>http.get({agent,port,host:'127.0.0.1',path,headers:{Authorization:'Bearer abc'}},res=>{res.resume();res.on('end',r as never)}));
  let left=n; const t=performance.now();
  await Promise.all(Array.from({length:16},async()=>{while(left-->0)await one()}));
  console.log(name, Math.round(n/(performance.now()-t)*1000),'/s'); s.closeAllConnections(); s.close();
}
for (let i=0;i<3;i++){ await run('bare', bare.fetch,'/const',6000); await run('public', api.app.fetch,'/const',6000); await run('authed', api.app.fetch,'/v1/things/1',6000);} 
// in-process
for (const [n,f,path] of [['bare',bare.fetch,'/const'],['public',api.app.fetch,'/const'],['authed',api.app.fetch,'/v1/things/1']] as const){ const t=performance.now(); for(let i=0;i<20000;i++){ const r=await f(new Request('http://x'+path,{headers:{authorization:'Bearer abc'}})); } console.log('inproc',n, ((performance.now()-t)/20000*1000).toFixed(1),'us'); }
process.exit(0)
