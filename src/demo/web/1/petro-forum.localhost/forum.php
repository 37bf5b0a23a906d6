<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
<title>石化论坛 - 石油化工技术交流</title>
<link rel="stylesheet" type="text/css" href="/style.css" />
</head>
<body id="nv_forum">
<div id="hd"><h2><a href="/forum.php?sid={session}">石化论坛</a></h2><div id="nv"><ul><li><a href="/forum.php?sid={session}">论坛首页</a></li><li><a href="/forum-12-1.html?sid={session}">炼化装置</a></li><li><a href="/forum-27-1.html?sid={session}">钻采现场</a></li></ul></div></div>
<div id="wp" class="wp">
<table class="fl_tb">
<tr><td class="fl_icn"></td><td><h2><a href="/forum-12-1.html?sid={session}">炼化装置</a></h2></td></tr>
<tr><td class="fl_icn"></td><td><h2><a href="/forum-27-1.html?sid={session}">钻采现场</a></h2></td></tr>
</table>
<h3>最新帖子</h3>
<table class="tl">
<tr><th class="common"><a href="/thread-50132-1-1.html?sid={session}" class="s xst">新人请教芳烃联合装置开工时的升温曲线（雷州湾炼化）</a></th><td class="by"><cite>LNG船迷</cite> <em>2026-11-19</em></td><td class="num">5</td></tr>
<tr><th class="common"><a href="/thread-50133-1-1.html?sid={session}" class="s xst">新人请教硫磺回收装置开工时的升温曲线（秦岭石化）</a></th><td class="by"><cite>蓝火焰</cite> <em>2026-11-18</em></td><td class="num">5</td></tr>
<tr><th class="common"><a href="/thread-50134-1-1.html?sid={session}" class="s xst">常减压装置循环氢纯度一直上不去，云海炼油厂的同行进来看看</a></th><td class="by"><cite>抽油机点头</cite> <em>2026-11-17</em></td><td class="num">4</td></tr>
<tr><th class="common"><a href="/thread-50135-1-1.html?sid={session}" class="s xst">换热器内漏怎么判断？秦岭石化的经历说一下</a></th><td class="by"><cite>盐穴居民</cite> <em>2026-11-16</em></td><td class="num">2</td></tr>
<tr><th class="common"><a href="/thread-50136-1-1.html?sid={session}" class="s xst">关于连续油管作业的成本，我在金滩油田算了一笔账</a></th><td class="by"><cite>管道小工</cite> <em>2026-11-14</em></td><td class="num">1</td></tr>
<tr><th class="common"><a href="/thread-50137-1-1.html?sid={session}" class="s xst">可溶桥塞现场应用有没有交流的，我们松岭油田准备上</a></th><td class="by"><cite>泥浆工老周</cite> <em>2026-11-13</em></td><td class="num">3</td></tr>
<tr><th class="common"><a href="/thread-50138-1-1.html?sid={session}" class="s xst">换热器内漏怎么判断？云海炼油厂的经历说一下</a></th><td class="by"><cite>柴油味</cite> <em>2026-11-12</em></td><td class="num">5</td></tr>
<tr><th class="common"><a href="/thread-50139-1-1.html?sid={session}" class="s xst">请教：石鼓岭气田水平井下套管在4865米遇阻怎么办</a></th><td class="by"><cite>戈壁风</cite> <em>2026-11-11</em></td><td class="num">1</td></tr>
</table>
</div>
<div id="ft" class="wp"><p><strong>石化论坛</strong> 石油化工人自己的技术社区，发言请遵守保密规定，不得上传图纸、配方和未公开的生产数据</p><p class="xs0">GMT+8, 页面执行 0.0217 秒, 石ICP备00000005号</p></div>
</body>
</html>
