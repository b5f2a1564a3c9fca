# A scripted model on loopback: answers POST /v1/messages with a tool call, then ends after the tool's result.
import http.server, json, sys, os
steps = json.loads(open(sys.argv[1]).read()); log = open(sys.argv[2], 'a')
class H(http.server.BaseHTTPRequestHandler):
    protocol_version='HTTP/1.1'
    def log_message(self,*a): pass
    def do_HEAD(self): self.send_response(200); self.send_header('Content-Length','0'); self.end_headers()
    do_GET=do_HEAD
    def do_POST(self):
        body=self.rfile.read(int(self.headers.get('Content-Length') or 0))
        if 'count_tokens' in self.path:
            return self.json({"input_tokens":10})
        if '/v1/messages' not in self.path: return self.json({})
        req=json.loads(body)
        results=[]
        for m in req['messages']:
            if isinstance(m['content'],list):
                for c in m['content']:
                    if c.get('type')=='tool_result': results.append(c)
        tools=[t.get('name') for t in req.get('tools',[])]
        main=bool(tools)
        if results and main:
            r=results[-1]; print(json.dumps({"tool_result":r.get('content'),"is_error":r.get('is_error',False)}),file=log,flush=True)
        n=len(results)
        if main and n<len(steps): content=[{"type":"tool_use","id":"toolu_fake%06d"%(n+1),"name":steps[n]['name'],"input":{}}]; inp=json.dumps(steps[n]['input']); stop='tool_use'
        else: content=[{"type":"text","text":""}]; inp=None; stop='end_turn'
        ev=[]
        ev.append(("message_start",{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":req.get('model'),"content":[],"stop_reason":None,"usage":{"input_tokens":1,"output_tokens":1}}}))
        ev.append(("content_block_start",{"type":"content_block_start","index":0,"content_block":content[0]}))
        d={"type":"input_json_delta","partial_json":inp} if inp is not None else {"type":"text_delta","text":"done"}
        ev.append(("content_block_delta",{"type":"content_block_delta","index":0,"delta":d}))
        ev.append(("content_block_stop",{"type":"content_block_stop","index":0}))
        ev.append(("message_delta",{"type":"message_delta","delta":{"stop_reason":stop,"stop_sequence":None},"usage":{"output_tokens":5}}))
        ev.append(("message_stop",{"type":"message_stop"}))
        if req.get('stream'):
            out=''.join("event: %s\ndata: %s\n\n"%(a,json.dumps(b)) for a,b in ev).encode(); ct='text/event-stream'
        else:
            c=[dict(content[0],input=json.loads(inp))] if inp is not None else [{"type":"text","text":"done"}]
            out=json.dumps({"id":"msg_1","type":"message","role":"assistant","model":req.get('model'),"content":c,"stop_reason":stop,"usage":{"input_tokens":1,"output_tokens":1}}).encode(); ct='application/json'
        self.send_response(200); self.send_header('Content-Type',ct); self.send_header('Content-Length',str(len(out))); self.end_headers(); self.wfile.write(out)
    def json(self,o):
        out=json.dumps(o).encode(); self.send_response(200); self.send_header('Content-Type','application/json'); self.send_header('Content-Length',str(len(out))); self.end_headers(); self.wfile.write(out)
s=http.server.ThreadingHTTPServer(('127.0.0.1',0),H); print(s.server_port,flush=True); s.serve_forever()
